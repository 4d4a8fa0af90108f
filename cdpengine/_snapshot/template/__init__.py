"""Templates of snapshots: parsing, matching and comparison. Pure."""
