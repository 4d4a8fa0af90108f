"""Crawling manners: robots.txt, limits for each host, Retry-After, and seen URLs.

Names are loaded on first use. `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
