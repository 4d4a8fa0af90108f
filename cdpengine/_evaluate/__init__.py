"""JavaScript in pages, evaluated where it can be stopped; init scripts and bindings."""
