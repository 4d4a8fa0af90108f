"""Tools to explore the protocol: a console, the browser's description, and compatibility checks.

Rule: the browser's description of its protocol is the only source of names.
"""
