"""Tools for models: the requests as functions that a model calls, and their results."""
