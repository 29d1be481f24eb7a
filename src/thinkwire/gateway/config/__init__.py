"""The configuration file of the gateway: reading, checking and reloading it."""
