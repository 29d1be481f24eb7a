"""The web app's server: agents, conversations, streams that outlive their readers, accounts."""
