"""A page's activity: console messages, errors, requests, and response bodies."""
