"""cdpengine."""
