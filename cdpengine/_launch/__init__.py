"""Finding, starting and ending Chrome: installations, flags, profiles, processes, endpoints."""
