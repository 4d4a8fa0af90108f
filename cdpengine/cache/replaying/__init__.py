"""Replaying an entry on a page: performing its steps, confirmations, and the report."""
