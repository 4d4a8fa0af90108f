"""Forms: filling in, checking and selecting controls, and uploading files."""
