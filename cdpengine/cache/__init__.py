"""The action cache: learned flows of actions on pages, stored for replay.

entries     the stored data: keys, steps, targets, post-conditions, and their JSON
templates   strings with variables in them, and the values at run time
recognition the scenario and the variables of a sentence
changes     fingerprints of pages, and whether a page has changed
store       the file with all entries

Names are loaded when they are first used. `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
