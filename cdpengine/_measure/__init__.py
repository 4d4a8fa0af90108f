"""Performance measurements of a page: traces, coverage, profiles, heap snapshots, metrics.

Each measurement needs only a Session.
"""
