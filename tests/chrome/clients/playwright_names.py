"""Print the public names of Playwright's asynchronous API as JSON. Run with the peers' interpreter.

"classes" has the members of each class, "events" the events of each class, "structures" the names of the dicts, and
"options" the arguments of the methods with many options.
"""

# mypy: ignore-errors
from __future__ import annotations

import inspect
import json
import typing

from playwright import async_api
from playwright.async_api import _generated as generated


def members(kind: type) -> list[str]:
    """Return the public names of a class, without those of exceptions in general."""
    names = set(dir(kind)) - (set(dir(Exception)) if issubclass(kind, Exception) else set())
    return sorted(name for name in names if not name.startswith("_"))


def events(kind: type) -> list[str]:
    """Return the names of a class's events."""
    overloads = typing.get_overloads(kind.on)
    annotations = [inspect.signature(each).parameters["event"].annotation for each in overloads]
    return sorted({name for each in annotations for name in typing.get_args(each)})


def options(method: object) -> list[str]:
    return list(inspect.signature(method).parameters)[1:]


public = {name: getattr(async_api, name) for name in async_api.__all__}
structures = {name: each for name, each in public.items() if inspect.isclass(each) and issubclass(each, dict)}
classes = {name: each for name, each in public.items() if inspect.isclass(each) and name not in structures}
classes |= {
    name: each
    for name, each in vars(generated).items()
    if getattr(each, "__module__", "") == generated.__name__
}
result = {
    "functions": sorted(set(public) - set(classes) - set(structures)),
    "structures": sorted(structures),
    "classes": {name: members(each) for name, each in classes.items()},
    "events": {name: events(each) for name, each in classes.items() if hasattr(each, "on")},
    "options": {
        "launch": options(async_api.BrowserType.launch),
        "new_context": options(async_api.Browser.new_context),
    },
}
print(json.dumps(result))
