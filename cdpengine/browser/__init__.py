"""Floor 3: Chrome as a user thinks of it: find it, start it, tabs, pages, frames, navigation."""
