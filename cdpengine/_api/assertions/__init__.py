"""Assertions about pages and elements, which wait until they hold."""
