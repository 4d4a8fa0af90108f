"""State of one page and its documents: targets, tabs, frames, nodes and their events."""
