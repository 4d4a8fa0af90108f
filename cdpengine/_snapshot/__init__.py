"""Snapshots: a page as text with refs.

sources   from one frame's document to nodes: Chrome's accessibility tree, a walk in the page, or the DOM alone
capture   all frames of a page as one tree of nodes
refs      Ref, and the tables that give refs out
render    nodes and refs to text, one file a mode (pure)
content   what a page says, as text or Markdown, without refs
snapshot  Snapshot, and what can be asked of it
"""
