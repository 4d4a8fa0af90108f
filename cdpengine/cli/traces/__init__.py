"""The commands that read recordings, as `cdpengine trace` has them: show, stats, diff, export, replay.

Rule: everything that can be read is used first; then each damaged line is named, and the exit status is 1.
"""
