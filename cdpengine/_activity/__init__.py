"""What a page does: what it writes to its console, its errors, its requests and their bodies."""
