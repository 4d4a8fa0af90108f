"""The action cache: what was learned of pages, kept and found again.

entries     what is kept: keys, steps, targets, post-conditions, and their JSON
templates   texts with variables in them, and the values at run time
recognition which scenario a sentence is about, and what it says of the variables
changes     what is remembered of a page, and whether it is another one by now
store       the file that all of it is in

Names are loaded when they are first used. They stand in `__init__.pyi`, once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
