"""A function done for each line of a file, its outcomes appended to files, so that it can go on where it ended.

run        MapRun: the inputs handed out, the outcomes written
run_files  the files of a run: what they hold, and how they are kept in order
line_file  a file that whole lines are appended to
journal    the lines themselves (pure)
inputs     the lines of the inputs (pure)
named      functions by their names, as command lines have them

Names are loaded when they are first used. They stand in `__init__.pyi`, once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
