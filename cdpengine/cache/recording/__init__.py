"""What is done on a page becomes the steps of an entry."""
