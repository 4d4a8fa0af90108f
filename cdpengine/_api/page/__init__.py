"""Page: one tab or popup, its verbs, and how what it does is done."""
