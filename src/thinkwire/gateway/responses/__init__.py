"""Responses that clients refer to by id."""
