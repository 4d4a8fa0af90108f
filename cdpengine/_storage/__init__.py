"""Cookies, local storage, databases, and state files with them."""
