"""Actionability: whether a node can be acted on, where, and what received the input."""
