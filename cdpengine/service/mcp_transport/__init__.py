"""What carries messages of MCP: their check, and standard input and output."""
