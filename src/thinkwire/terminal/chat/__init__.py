"""What happens in a chat: conversations, commands, runs."""
