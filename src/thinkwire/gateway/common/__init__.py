"""Ids, encryption and shared SQLite files of the gateway."""
