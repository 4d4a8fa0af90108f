"""Requests about the protocol's wire and about what pages cost: their kinds, and how they are done."""
