"""Chrome found, started and ended: installations, flags, profiles, processes, endpoints."""
