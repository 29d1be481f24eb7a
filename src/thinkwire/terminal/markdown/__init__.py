"""Markdown that grows, drawn as lines."""
