"""Floor 1: messages and bytes. What goes over the wire, who waits for which reply, and how the bytes travel."""
