"""Forms: controls filled in, checked, chosen from, and given files."""
