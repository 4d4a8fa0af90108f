"""The wire protocol: messages, the mux, transports, the connection, sessions, event streams and targets."""
