"""Crawling manners: robots.txt, limits a host, Retry-After, URLs seen before.

Names are loaded when they are first used. They stand in `__init__.pyi`, once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
