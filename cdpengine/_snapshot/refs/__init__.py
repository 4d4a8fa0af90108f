"""Refs: short names for nodes, the tables that give them out, and their labels on pictures."""
