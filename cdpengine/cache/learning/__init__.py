"""Learning: the actions on a page become the steps of an entry."""
