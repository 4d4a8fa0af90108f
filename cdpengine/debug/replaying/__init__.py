"""Replaying recordings: calls are answered from a recording as a browser answered them.

The folder is not called "replay": `cdpengine.debug.replay` is the function.
"""
