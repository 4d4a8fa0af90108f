"""The gate: checks the destination address of every connection that the browser makes."""
