"""Performance measurements of a page: traces, coverage, profiles, heap snapshots, metrics.

Each needs only a Session.
"""
