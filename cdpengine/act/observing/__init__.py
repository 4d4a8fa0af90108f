"""Requests about protocol traffic and about the resource use of pages: their kinds and handlers."""
