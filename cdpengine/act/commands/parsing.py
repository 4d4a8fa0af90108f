"""Parsing of command lines: arguments and options become the fields of a request, as its class declares them.

Rule: the parser guesses nothing. For superfluous and missing arguments, the error has the verb's usage. The parser
of requests checks the values, as for all clients. File names are relative to the folder of the command.
"""

from __future__ import annotations

import os
import shlex
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs

from cdpengine import _json
from cdpengine._checks import check_choice, invalid
from cdpengine._emulation.options import parse_viewport
from cdpengine._snapshot.refs import parse_ref_text
from cdpengine.act.commands.files import check_different_files, choose_file, new_name
from cdpengine.act.commands.other_shells import name_ours
from cdpengine.act.commands.own_browser import check_endpoint, check_own_browser, check_url
from cdpengine.act.commands.verbs import VERBS, Verb, is_flag, option_fields, option_names
from cdpengine.act.fields import camel_case
from cdpengine.act.notations import Place
from cdpengine.act.selectors import parse_selector
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.selectors import may_be_name

DEFAULT_SESSION = "default"


@attrs.frozen(kw_only=True)
class Typed:
    """A command line: the verb with its arguments, the folder, the session of the environment, standard input.

    `url` is the URL to load in a browser of the command's own, which is not among the arguments.
    """

    arguments: Sequence[str]
    folder: str
    session: str = ""
    stdin: str = ""
    url: str | None = None


@attrs.frozen(kw_only=True)
class Command:
    """A command. `request` is its JSON; None for a verb of the shell itself. `options` are the shell's options.

    `url` is the URL that it loads in a browser of its own; None for a page of the session, or of --endpoint.
    """

    verb: Verb
    session: str
    as_json: bool
    request: Mapping[str, Any] | None = None
    options: Mapping[str, str | bool] = attrs.field(factory=dict)
    url: str | None = None


def parse(typed: Typed) -> Command:
    """Return the command. Raises InvalidArgumentError."""
    name, *rest = typed.arguments or [""]
    check_choice("the command", name, VERBS, "a verb")
    verb = VERBS[name]
    bare, options = _split(verb, rest)
    named = options.pop("--session", [])
    session = _one(named or [typed.session or DEFAULT_SESSION])
    as_json = bool(options.pop("--json", []))
    own = dict(_own_options(verb, options, typed.folder))
    check_endpoint(verb, own)
    if verb.loads:
        check_own_browser(verb, typed.url, own, typed.folder, has_session=bool(named))
    if "--raw" in own and as_json:
        raise InvalidArgumentError(what=name, given="--raw and --json", expected="one of them")
    bare = [typed.stdin.removesuffix("\n") if each is STDIN else each for each in bare]
    request = None
    if verb.name == "act":
        request = _parse_act(verb, bare)
    elif verb.request is not None:
        request = {"kind": verb.kind, **verb.preset, **_fields(verb, bare, options)}
        if "--values" in own:
            request["variables"] = _values(typed.stdin) | request.get("variables", {})
        if verb.kind == "cacheClear" and ("--all" in own) == ("scenario" in request):
            given = "both" if "--all" in own else "neither"
            raise InvalidArgumentError(what=verb.name, given=given, expected="SCENARIO or --all")
    elif bare:
        raise _misused(verb, _count(bare), bare)
    if request is not None:
        request = _complete(verb, request, typed.folder, force="--force" in own, as_json=as_json)
        check_different_files(verb.name, request.get("path"), own)
    return Command(verb=verb, session=session, as_json=as_json, request=request, options=own, url=typed.url)


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether to answer in JSON, even if the other arguments are invalid."""
    return "--json" in arguments[: arguments.index("--") if "--" in arguments else None]


class _Stdin(str):
    """The argument "-" for standard input."""

    __slots__ = ()


STDIN = _Stdin("-")
_READ_STDIN = frozenset({"act", "cache-lookup", "eval", "evaluate", "fill", "type"})


def _split(verb: Verb, arguments: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the positional arguments, and the options with their values. Only options begin with --."""
    flags, valued = option_names(verb)
    bare: list[str] = []
    options: dict[str, list[str]] = {}
    rest = iter(arguments)
    for each in rest:
        if each == "--":
            bare += rest
        elif each.startswith("--") or each[:2] in valued:
            name, equals, value = each.partition("=") if each.startswith("--") else (each[:2], "", each[2:])
            if name not in flags | valued:
                raise InvalidArgumentError(
                    what=verb.name,
                    given=f"the option {name[:40]}",
                    expected=", ".join(sorted(flags | valued)),
                )
            if name in flags:
                if equals:
                    raise InvalidArgumentError(what=name, given="a value", expected="none")
                value = ""
            elif not equals and not value:
                following = next(rest, None)
                if following is None:
                    raise InvalidArgumentError(what=f"{verb.name} {name}", given="no value", expected="one")
                value = following
            options.setdefault(name, []).append(value)
        else:
            bare.append(STDIN if each == "-" and verb.name in _READ_STDIN else each)
    return bare, options


def _one(values: Sequence[str]) -> str:
    return values[-1]


_PATHS = frozenset({"--record", "--trace", "--user-data-dir"})
"""Options of the shell with a path."""


def _own_options(verb: Verb, options: dict[str, list[str]], folder: str) -> Iterator[tuple[str, str | bool]]:
    """Remove the shell's options from `options`, and yield them."""
    for described in (*verb.options, *verb.browser_options):
        name, _, takes = described.partition(" ")
        if name in options:
            value = _one(options.pop(name))
            if name == "--viewport":
                parse_viewport(value)  # an invalid one is refused before a browser starts
            # The path of a program is relative to the folder; a name is searched in the usual places.
            if name in _PATHS or (name == "--browser" and os.sep in value):
                value = os.path.join(folder, value)
            yield name, value if takes else True


def _values(text: str) -> dict[str, Any]:
    """Return the values of `--values`: a JSON object of strings. An empty file has none."""
    values = _from_json("--values", text) if text.strip() else {}
    if not isinstance(values, dict):
        raise InvalidArgumentError(
            what="--values", given="JSON of another kind", expected="an object of strings"
        )
    return values


def _fields(verb: Verb, bare: Sequence[str], options: Mapping[str, list[str]]) -> dict[str, Any]:
    hints = _hints(verb)
    by_option = option_fields(verb)
    by_place = {name: place.field for place in verb.places for name in place.options if name in options}
    placed = {by_place[name]: _one(values) for name, values in options.items() if name in by_place}
    options = {name: values for name, values in options.items() if name not in by_place}
    fields: dict[str, Any] = {}
    for name, values in options.items():
        if name in verb.flags:
            flagged, value = verb.flags[name]
            fields[camel_case(flagged)] = value
            continue
        field = by_option[name]
        if is_flag(field):
            fields[camel_case(field.name)] = True
        else:
            fields[camel_case(field.name)] = _convert(name, hints[field.name], values)
    return {**fields, **_bare_fields(verb, bare, placed)}


def _bare_fields(verb: Verb, bare: Sequence[str], placed: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of positional arguments. `placed` are those that options give, by field."""
    if verb.kind == "fill":
        return _pairs(verb, bare)
    fields: dict[str, Any] = {}
    left = list(bare)
    for place in verb.places:
        if place.many:
            taken, left = left, []
            if not taken and place.needed:
                raise _misused(verb, f"no {place.name}")
            if taken:
                fields[camel_case(place.field)] = taken
        elif place.field in placed:
            fields |= read_place(verb, place, placed[place.field])
        elif left:
            fields |= read_place(verb, place, left.pop(0))
        elif place.needed:
            raise _misused(verb, f"no {place.name}")
    if left and verb.loads and not verb.places:
        check_url(verb.name, bare[0])
    if left:
        raise _misused(verb, _count(bare), bare)
    return fields


def _count(bare: Sequence[str]) -> str:
    """Return the number of positional arguments in words. Their values may be secret."""
    return "1 argument" if len(bare) == 1 else f"{len(bare) or 'no'} arguments"


def _misused(verb: Verb, given: str, bare: Sequence[str] = ()) -> InvalidArgumentError:
    """Return the error of a wrong number of arguments. For a line of another shell, it names our command."""
    expected = " ".join(map(str, verb.places))
    if not expected:
        expected = f"no argument, only options: {', '.join(sorted(set().union(*option_names(verb))))}"
    ours = name_ours([verb.name, *bare]) if bare else ""
    if ours:
        expected = f"no argument. Did you mean {ours!r}?"
    return InvalidArgumentError(what=verb.name, given=given, expected=expected)


def read_place(verb: Verb, place: Place, text: str) -> dict[str, Any]:
    """Return the JSON fields for one positional argument. Raises InvalidArgumentError."""
    special = _SPECIAL.get((verb.name, place.field)) or _SPECIAL.get(("", place.field))
    if special is not None:
        return special(verb, text)
    return {camel_case(place.field): _convert(place.name, _hints(verb)[place.field], [text])}


def _target(_verb: Verb, text: str) -> dict[str, Any]:
    ref = parse_ref_text(text)
    return {"selector": text} if ref is None else {"ref": ref}


def _what(verb: Verb, text: str) -> dict[str, Any]:
    criteria = parse_selector(text) or {}
    if "text" in criteria:
        return {"text": criteria["text"]}
    if "css" in criteria and "nth" not in criteria:
        return {"selector": criteria["css"]}
    if parse_ref_text(text) not in (None, f"e{text}") or may_be_name(text):
        expected = f"a time in milliseconds, a CSS selector, or {shlex.quote(f'text={text[:40]}')}"
        raise invalid(verb.name, text, expected)
    return {"timeMs": int(text)} if text.isdecimal() and text.isascii() else {"selector": text}


def _tab(_verb: Verb, text: str) -> dict[str, Any]:
    return {"index": int(text)} if text.isdecimal() and text.isascii() else {"targetId": text}


def _answer(verb: Verb, text: str) -> dict[str, Any]:
    check_choice(verb.name, text, ("accept", "dismiss"), "accept or dismiss")
    return {"accept": text == "accept"}


def _end(name: str) -> Callable[[Verb, str], dict[str, Any]]:
    """Return a reader for one end of a drag: a ref or a selector."""

    def read(_verb: Verb, text: str) -> dict[str, Any]:
        ref = parse_ref_text(text)
        return {f"{name}Selector": text} if ref is None else {f"{name}Ref": ref}

    return read


_SPECIAL: Mapping[tuple[str, str], Callable[[Verb, str], dict[str, Any]]] = {
    ("", "target"): _target,
    ("drag", "start_ref"): _end("start"),
    ("drag", "end_ref"): _end("end"),
    ("wait", "what"): _what,
    ("focus-tab", "index"): _tab,
    ("close-tab", "index"): _tab,
    ("dialog", "accept"): _answer,
}
"""Readers for positional arguments of more than one field; the name "" means every verb."""


def _pairs(verb: Verb, bare: Sequence[str]) -> dict[str, Any]:
    if not bare or len(bare) % 2:
        raise _misused(verb, _count(bare))
    pairs = zip(bare[::2], bare[1::2], strict=True)
    return {"fields": [{**_target(verb, target), "value": value} for target, value in pairs]}


def _parse_act(verb: Verb, bare: Sequence[str]) -> dict[str, Any]:
    if len(bare) != 1:
        raise _misused(verb, _count(bare))
    request = _from_json("act", bare[0])
    if not isinstance(request, dict):
        raise InvalidArgumentError(what="act", given="JSON of another type", expected="an object")
    return request


# --- values --------------------------------------------------------------------------------------------------


@cache
def _hints(verb: Verb) -> Mapping[str, Any]:
    return {} if verb.request is None else get_type_hints(verb.request)


def _convert(name: str, hint: Any, values: Sequence[str]) -> Any:
    """Return the values of an option as JSON data, which the parser of requests then checks."""
    kind = _without_none(hint)
    if get_origin(kind) is tuple and get_args(kind)[0] is float:
        return [_convert(name, float, [each]) for value in values for each in value.split(",")]
    if get_origin(kind) is tuple and get_args(kind)[0] is not Any and not attrs.has(get_args(kind)[0]):
        return [_convert(name, get_args(kind)[0], [value]) for value in values]
    text = _one(values)
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise invalid(name, text, "a whole number" if kind is int else "a number") from None
    if kind is bool:
        return check_choice(name, text, ("true", "false"), "true or false") == "true"
    is_json = attrs.has(kind) or get_origin(kind) in (tuple, dict)
    return _from_json(name, text) if is_json else text


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    members = [each for each in get_args(hint) if each is not type(None)]
    return members[0] if len(members) == 1 else hint


def _from_json(name: str, text: str) -> Any:
    try:
        return _json.decode_leniently(text)
    except ValueError:
        raise InvalidArgumentError(what=name, given="text that is not JSON", expected="JSON") from None


# --- files and URLs ------------------------------------------------------------------------------------------


def _complete(
    verb: Verb, request: Mapping[str, Any], folder: str, *, force: bool, as_json: bool
) -> dict[str, Any]:
    """Return the request with absolute file names and the shell's additions. Raises InvalidArgumentError."""
    done = dict(request)
    for name in ("path", "directory"):
        if isinstance(done.get(name), str):
            done[name] = os.path.join(folder, done[name])
    if isinstance(done.get("paths"), list):
        paths = done["paths"]
        done["paths"] = [os.path.join(folder, each) if isinstance(each, str) else each for each in paths]
    if verb.name in ("open", "new-tab"):
        check_url(verb.name, done.get("url", "about:blank"), folder)
    if verb.name in ("screenshot", "pdf"):
        choose_file(verb.name, done, folder, force=force, as_json=as_json)
    suffix = _SUFFIXES.get(f"{verb.kind} {done.get('measurement', '')}".rstrip())
    if suffix is not None and "path" not in done:
        done["path"] = new_name(folder, done.get("measurement", verb.name), suffix)
    return done


_SUFFIXES = {
    "startRecording": "jsonl",
    "startMeasurement trace": "json.gz",
    "startMeasurement profile": "cpuprofile",
    "heapSnapshot": "heapsnapshot.gz",
}
"""Suffixes of the file names that the shell chooses."""
