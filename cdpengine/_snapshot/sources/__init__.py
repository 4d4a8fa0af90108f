"""Sources: one frame's document as nodes, read in one of three ways."""
