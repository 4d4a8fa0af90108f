"""The gate: every connection of the browser goes through it, and is judged by the address that it leads to."""
