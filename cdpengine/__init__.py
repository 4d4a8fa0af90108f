"""cdpengine: a Chrome DevTools Protocol engine in which nothing can hang and nothing is lost in silence.

_api         Browser, Page, launch, connect
_evaluate    JavaScript that can be stopped      } layers side by side,
_snapshot    a page as text with refs            } none imports another
_input       click, hover, type, press           }
_activity, _network, _storage, _emulation, _measure, _pictures: beside them
_page        one page's state: targets, frames, navigation, dialogs, downloads
_launch      find a browser, start it, end it
_protocol    messages, mux, transports, sessions, event streams; domains: the protocol's structures
errors: every public error; debug: recordings of the wire; testing: a scripted peer; cli: the commands

The names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from functools import partial

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used. The names stand in `__init__.pyi`, once."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cdpengine.errors import exhausted, shortages_named

    with shortages_named(partial(exhausted, f"load cdpengine.{name}")):
        value: object = _load(name)
    globals()[name] = value
    return value
