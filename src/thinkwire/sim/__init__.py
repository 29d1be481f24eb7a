"""Strict simulated providers: they answer like the real ones, and refuse like them."""
