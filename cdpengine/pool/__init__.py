"""A pool of browsers on one machine: pages leased to tasks, and jobs run for many items.

pool            BrowserPool: leases and jobs on browsers that are kept running
pooled_browser  one browser of a pool, from its start to its end
jobs            functions of a page that run once for each item, with one result each
functions       ready functions: markdown, snapshot, screenshot, har, links
mapping         jobs for the lines of a file, with results in files
members         the browsers of a pool, and the limits after which they are replaced
queue           the next task to get a page, and its browser (pure)
manners         robots.txt, limits for each host, canonical URLs

Names are loaded on first use. `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
