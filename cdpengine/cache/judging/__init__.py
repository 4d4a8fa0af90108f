"""Judging: whose fault it is that a replay stopped."""
