"""Exploring the protocol: a console on it, what a browser says of it, and whether the engine fits a browser.

Rule: the browser's own description of its protocol is the only source of names.
"""
