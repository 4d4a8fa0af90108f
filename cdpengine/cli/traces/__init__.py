"""`cdpengine trace`: recordings read, compared, exported and shown."""
