"""The protocol's structures: one file a domain, each event, reply and type once."""
