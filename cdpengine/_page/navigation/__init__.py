"""Navigations and their documents, and whether a page loads, rests or answers at all."""
