"""Matching the learned targets, conditions and counts of an entry with the current page."""
