"""Snapshots: the content of a page as text with refs.

sources   conversion of one frame's document to nodes: Chrome's accessibility tree, a walk in the page, or the DOM
capture   all frames of a page as one tree of nodes
refs      Ref, and the tables that assign refs
render    conversion of nodes and refs to text, one file for each mode (pure)
content   the readable content of a page, as text or Markdown, without refs
snapshot  Snapshot, and searches in it
"""
