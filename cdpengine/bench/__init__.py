"""Measuring somebody's browser: what its commands, events and snapshots take, and why they take it."""
