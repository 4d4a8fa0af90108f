"""Recording the actions on a page as the steps of an entry."""
