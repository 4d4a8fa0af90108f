"""Search for nodes in the documents of a page."""
