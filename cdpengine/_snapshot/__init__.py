"""Floor 4: a page as text with refs.

axtree    the reply of Accessibility.getFullAXTree, read tolerantly
roles     tables: which roles there are, what is shown of them
tree      AX nodes -> nodes that are shown (pure)
node      what every source of a snapshot makes, and rendering reads
refs      Ref, and the table that gives refs out; ref_tables: those of all pages
text      page text made safe to stand in a line
render    nodes and refs -> text (pure)
snapshot  Snapshot, and the call that takes it
"""
