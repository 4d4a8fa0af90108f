"""Evaluation of JavaScript in pages with guaranteed termination; init scripts and bindings."""
