"""Replay of recordings: calls get the responses that a browser gave during the recording.

The folder is not called "replay" because `cdpengine.debug.replay` is the function.
"""
