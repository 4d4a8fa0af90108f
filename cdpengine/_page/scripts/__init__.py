"""Evaluation sessions, isolated worlds and function calls in a page."""
