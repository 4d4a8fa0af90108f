"""A function run for each line of a file, with outcomes appended to files, so that a run can be resumed.

run        MapRun: reads inputs and writes outcomes
run_files  the files of a run, their contents and order
line_file  a file to which whole lines are appended
journal    the format of the lines (pure)
inputs     the lines of the inputs (pure)
named      functions by name, for command lines

Names are loaded on first use. `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
