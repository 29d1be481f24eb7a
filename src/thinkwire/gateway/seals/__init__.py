"""Carriers: vendors' seals, encrypted for the gateway's clients."""
