"""Writers of recordings: traffic becomes lines, loses its secrets, and is written to a file.

Rule: nothing here reads a recording. Secrets are removed before a string reaches a disk.
"""
