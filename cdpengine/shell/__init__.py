"""A command line that keeps its browser: a thin client, and the background service that does what it asks.

Rule: `client` and `places` are all that a command with a running service loads, and they import nothing but what
the interpreter has loaded by then, and the C module of sockets. Everything else belongs to the service, or to its
start.
"""
