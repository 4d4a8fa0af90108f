"""`cdpengine trace`: the commands for recordings."""
