"""Content: what a page says, as blocks, plain text and Markdown."""
