"""Requests about the action cache, and the hooks that run around each request."""
