"""Seeing the wire: recordings of the protocol's traffic, and what can be made of them.

recording    messages become lines of a file, without their secrets
reading      lines of a file become figures, comparisons, archives, traces and pages
proxy_server a man in the middle that records, and does harm on demand (faults); http_websocket_server listens
replaying    a recording that answers as the browser did
explorer     a console on the protocol, its description, and what of it the engine needs

Rule: an observer changes nothing and holds up nothing. Names are loaded when they are first used.
"""

from functools import partial

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used. The names stand in `__init__.pyi`, once."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cdpengine.errors import exhausted, shortages_named

    with shortages_named(partial(exhausted, f"load cdpengine.debug.{name}")):
        value: object = _load(name)
    globals()[name] = value
    return value
