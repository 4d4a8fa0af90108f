"""Page: one tab or popup, its methods and their implementation."""
