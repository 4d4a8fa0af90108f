"""Many browsers on one machine: pages leased to tasks, jobs done for many items.

pool            BrowserPool: leases, jobs, its browsers kept running
pooled_browser  one browser of a pool, from its start to its end
jobs            functions of a page, done for items, each with one result
functions       ready ones: markdown, snapshot, screenshot, har, links
mapping         jobs for the lines of a file, whose results are files, too
members         what a pool is made of, and when a browser is replaced
queue           who gets a page next, and where (pure)
manners         robots.txt, limits a host, URLs in one form

Names are loaded when they are first used. They stand in `__init__.pyi`, once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
