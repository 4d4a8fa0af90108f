"""What happens in a session as server-sent events: the journal, what is written into it, and what clients get."""
