"""Answers in progress, in one process or several."""
