"""What a page costs: traces, coverage, profiles, heap snapshots, metrics; each on a Session alone."""
