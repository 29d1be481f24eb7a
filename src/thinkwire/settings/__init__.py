"""Settings: typed, layered, self-describing."""
