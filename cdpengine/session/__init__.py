"""Floor 2: the trio shell around the mux. Connections, sessions, event streams, the tree of targets."""
