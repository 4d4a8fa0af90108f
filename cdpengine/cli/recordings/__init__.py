"""`cdpengine recording`: the commands for recordings."""
