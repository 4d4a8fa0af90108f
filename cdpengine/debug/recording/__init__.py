"""Writing recordings: traffic becomes lines, loses its secrets, and goes to a file.

Rule: nothing here reads a recording. Whether a text is secret is decided before it reaches a disk.
"""
