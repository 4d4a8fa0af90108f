"""Tools for running, counting and reporting all benchmark cases."""
