"""The wire and its sessions: messages, the mux, transports, connection, sessions, event streams, targets."""
