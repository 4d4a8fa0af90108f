"""A session's activity as server-sent events: the journal, the tasks that fill it, and the response to clients."""
