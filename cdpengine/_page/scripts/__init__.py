"""Evaluation sessions, isolated worlds, and calls of functions in a page."""
