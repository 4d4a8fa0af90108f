"""cdpengine: a Chrome DevTools Protocol engine in which every call ends in time and every failure raises.

_api         Browser, Page, launch, connect
_evaluate    JavaScript with guaranteed termination    } independent layers:
_snapshot    a page as text with refs                  } none imports
_input       click, hover, type, press                 } another
_activity, _network, _storage, _emulation, _measure, _pictures: independent layers too
_page        one page's state: targets, frames, navigation, dialogs, downloads
_launch      find a browser, start it, end it
_protocol    messages, mux, transports, sessions, event streams; domains: the protocol's structures
errors: every public error; debug: recordings of the wire; testing: a scripted peer; cli: the commands
values, network, measure, emulation, storage, actions, pages, events, protocol: public names by area, for imports

Programs use the names of this module every day. Names that mostly appear in annotations are in the areas. They are
found here too (`cdpengine.EngineError`), but neither type checkers nor `dir` list them here.

Names are imported on first use, so importing the package is fast. Even the package for lazy imports is imported
late, because every command of the shell would pay for it.
"""

_AREAS = (
    "errors", "values", "network", "measure", "emulation", "storage", "actions", "pages", "events",
    "protocol",
)  # fmt: skip

_attached: tuple[object, list[str]] | None = None


def _attach() -> tuple[object, list[str]]:
    """Return the lazy loader of the stub's names, and the names."""
    global _attached  # noqa: PLW0603 - the stub is read once, when the first name is used
    if _attached is None:
        import lazy_loader

        load, _, names = lazy_loader.attach_stub(__name__, __file__)
        _attached = load, names
    return _attached


def __getattr__(name: str) -> object:
    """Import a public name on first use. `__init__.pyi` lists the names."""
    load, names = _attach()
    if name == "__all__":
        value: object = names
    else:
        from functools import partial

        from cdpengine.errors import exhausted, shortages_named

        with shortages_named(partial(exhausted, f"load cdpengine.{name}")):
            value = load(name) if name in names else _find_in_areas(name)  # type: ignore[operator]
    globals()[name] = value
    return value


def _find_in_areas(name: str) -> object:
    """Return a public name of an area. Raises AttributeError for any other name."""
    from importlib import import_module

    for area in () if name.startswith("_") else _AREAS:
        module = import_module(f"{__name__}.{area}")
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(_attach()[1])
