"""Floors: the least code for a task, as the lower bound of each figure on this machine."""
