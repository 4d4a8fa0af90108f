"""Requests about the action cache: their kinds, what a cache is to them, and what runs around each request."""
