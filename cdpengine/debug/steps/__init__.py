"""Step traces: the actions of a program with the pages around them, in one file and as one HTML page.

step_file      appends entries to a ZIP file in a thread and removes their secrets
documents      reads the changes of documents (document.js); resources fetches their pictures and style sheets
page_steps     the steps of one page; step_recorder the pages of a scope and the traffic
from_environment  the step trace of a whole browser (CDPENGINE_TRACE, --trace)
reading        reads a file, also one without an end; view makes the page of the viewer

Rule: a step trace observes. It sends its own commands without waiting for them, and a failure of its own never
reaches the program before the end of the block.
"""
