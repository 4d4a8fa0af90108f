"""The transports of MCP messages: checks, HTTP, and standard input and output."""
