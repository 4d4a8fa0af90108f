"""The engine as a service: HTTP, sessions by name, limits. See `docs/service.md`."""
