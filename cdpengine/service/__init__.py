"""The engine as a service: HTTP, named sessions, limits. See `docs/service.md`."""
