"""Interception, mocking and throttling of requests."""
