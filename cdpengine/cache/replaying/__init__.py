"""Replaying an entry on a page: finding targets, performing steps, and waiting for their results."""
