"""The Agent Client Protocol, for editors."""
