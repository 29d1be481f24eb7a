"""Access keys, rates and daily spends."""
