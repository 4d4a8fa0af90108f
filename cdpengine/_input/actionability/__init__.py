"""Actionability: whether and where a node can be acted on, and which element received the input."""
