"""Readers of recordings: lines, figures, comparisons, archives, traces and pages.

Rule: reading needs no browser. Intact parts of a damaged file are still read.
"""
