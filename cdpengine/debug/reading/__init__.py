"""Reading recordings: their lines, and what is made of them (figures, comparisons, archives, traces, pages).

Rule: nothing here needs a browser. What can be read of a damaged file is read.
"""
