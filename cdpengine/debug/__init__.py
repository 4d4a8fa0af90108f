"""Recordings of the protocol's traffic, and the tools that read, replay and explore it.

recording    turns messages into lines of a file and removes their secrets
reading      turns lines of a file into figures, comparisons, archives, traces and pages
proxy_server records between client and browser and injects faults; http_websocket_server listens
wrapping     records the browsers that another program starts
replaying    answers calls from a recording as the browser did
explorer     a console for the protocol, its description, and the engine's compatibility with it

Rule: an observer never changes or delays traffic. Names are loaded on first use.
"""

from functools import partial

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Load a public name on first use. `__init__.pyi` lists the names."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cdpengine.errors import exhausted, shortages_named

    with shortages_named(partial(exhausted, f"load cdpengine.debug.{name}")):
        value: object = _load(name)
    globals()[name] = value
    return value
