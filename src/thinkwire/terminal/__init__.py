"""The terminal: a chat on the whole screen, a plain one for pipes, and the protocol that editors speak."""
