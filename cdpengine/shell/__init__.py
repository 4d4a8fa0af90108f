"""A command line that keeps its browser: a thin client, and a background service that performs its commands.

Rule: a command with a running service loads only `client`, which imports only modules that the interpreter
has already loaded, and the C module of sockets. Everything else belongs to the service or to
starting it.
"""
