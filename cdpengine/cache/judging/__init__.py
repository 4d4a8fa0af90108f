"""The cause of a stopped replay."""
