"""Navigations and their documents, loading, settling and liveness of pages."""
