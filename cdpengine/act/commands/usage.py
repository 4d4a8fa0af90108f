"""The `--help` text of a verb: its usage, its meaning, and its options, which are the fields of its request."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs

from cdpengine.act.commands.verbs import VERBS, Verb, is_flag, option_fields
from cdpengine.act.fields import MEANING
from cdpengine.act.selectors import FORMS

_WIDTH = 100
_COLUMN = 30

_LOADS = (
    "With URL, which has a scheme (https://, file://, about:, data: ...), it loads that page in a browser of its "
    "own, which ends with the command; --timeout-ms applies to loading, and again to the command. Without URL, it "
    "uses the page of the session that `cdpengine open` started."
)

_ALWAYS = {
    "--session NAME": 'The session; by default CDPENGINE_SESSION or "default".',
    "--json": "Print the whole response as JSON.",
    "--help": "Show this help.",
}


def verb_help(name: str) -> str:
    """Return the help of a verb."""
    verb = VERBS[name]
    lines = [f"Usage: cdpengine {verb.usage} [OPTIONS]", "", verb.meaning]
    if verb.example:
        lines += ["", "Example:", f"  cdpengine {verb.example}"]
    targets = [place.name for place in verb.places if place.field in ("target", "start_ref", "end_ref")]
    if targets:
        are = "is" if len(targets) == 1 else "are each"
        snapshot = "the last snapshot (with URL: of a new one)" if verb.loads else "the last snapshot"
        what = f'a ref of {snapshot} such as "e3", a CSS selector, or one of {FORMS}; one element must match.'
        lines += ["", *textwrap.wrap(f"{' and '.join(targets)} {are} {what}", _WIDTH)]
    if verb.loads:
        lines += ["", *textwrap.wrap(_LOADS, _WIDTH)]
    lines += ["", "Options:"]
    own = verb.browser_options
    for option, meaning in {**dict(_options(verb)), **verb.options, **_ALWAYS}.items():
        lines += _row(option, meaning)
    if own:
        lines += ["", "Options with a URL:"]
    for option, meaning in own.items():
        lines += _row(option, meaning) if option not in verb.options else []
    return "\n".join(lines) + "\n"


def option_lines(verb: Verb) -> list[str]:
    """Return the lines about the options that are fields of a verb's request."""
    return [line for option, meaning in _options(verb) for line in _row(option, meaning)]


def _row(option: str, meaning: str) -> list[str]:
    first, *more = textwrap.wrap(meaning, _WIDTH - _COLUMN)
    rest = [" " * _COLUMN + each for each in more]
    head = f"  {option}"
    if len(head) >= _COLUMN:
        return [head, " " * _COLUMN + first, *rest]
    return [head.ljust(_COLUMN) + first, *rest]


def _options(verb: Verb) -> Iterator[tuple[str, str]]:
    if verb.request is None:
        return
    hints = get_type_hints(verb.request)
    flags: dict[str, list[str]] = {}
    for name, (flagged, _) in verb.flags.items():
        flags.setdefault(flagged, []).append(name)
    for name, field in option_fields(verb).items():
        spelled = ", ".join([name, *flags.pop(field.name, [])])
        yield spelled + _value(field, hints[field.name]), field.metadata[MEANING]
    for flagged, names in flags.items():
        off = next((name for name in names if not verb.flags[name][1]), "")
        meaning = attrs.fields_dict(verb.request)[flagged].metadata[MEANING]
        yield ", ".join(names), f"{meaning} {off} turns it off." if off else meaning
    for place in verb.places:
        if place.options:
            yield f"{', '.join(place.options)} {place.name}", f"The same as the argument {place.name}."


def _value(field: attrs.Attribute[Any], hint: Any) -> str:
    """Return the placeholder of an option's value, "" for a flag."""
    if is_flag(field):
        return ""
    members = [each for each in get_args(hint) or (hint,) if each is not type(None)]
    first = members[0]
    if get_origin(hint) is Literal or get_origin(first) is Literal:
        choices = get_args(hint if get_origin(hint) is Literal else first)
        return f" {'|'.join(map(str, choices))}"
    if bool in (hint, first):
        return " true|false"
    if hint in (int, float) or first in (int, float):
        return " N"
    if get_origin(first) is tuple and get_args(first)[0] is float:
        return " N,N,..."
    return " JSON" if attrs.has(first) or get_origin(hint) is dict or Any in get_args(hint) else " TEXT"
