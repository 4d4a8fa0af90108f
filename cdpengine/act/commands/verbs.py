"""The verbs of the shell, as data: the request of each verb, and which of its fields are positional.

Rule: the classes of the verbs declare the commands. All other fields of the request's class are options
(`max_depth` is `--max-depth`), so the shell supports whatever a request supports. `client.VERBS` has the same
names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import attrs

from cdpengine import errors
from cdpengine.act.fields import file_fields, snake_case, summary_of
from cdpengine.act.notations import Place
from cdpengine.act.requests import ActRequest
from cdpengine.act.verbs import KINDS
from cdpengine.act.words.advice import ADVICE
from cdpengine.act.words.wording import Words


@attrs.frozen(kw_only=True, eq=False)
class Verb:
    """A verb. `preset` are fields with fixed values; `options` are options of the shell itself.

    A `kind` of "" is a verb of the shell itself, without a request. `meaning` is one sentence. `flags` are further
    options without a value: each sets a field. `loads`: its first argument can be a URL, which it loads in a
    browser of its own. `console`: the protocol console has it, too. `in_scripts`: action scripts have it, too.
    """

    name: str
    kind: str
    meaning: str
    places: Sequence[Place] = ()
    preset: Mapping[str, Any] = attrs.field(factory=dict)
    options: Mapping[str, str] = attrs.field(factory=dict)
    flags: Mapping[str, tuple[str, Any]] = attrs.field(factory=dict)
    example: str = ""
    loads: bool = False
    console: bool = False
    in_scripts: bool = False

    @property
    def request(self) -> type[ActRequest] | None:
        """The class of the request; None for a verb of the shell itself."""
        return KINDS[self.kind] if self.kind else None

    @property
    def usage(self) -> str:
        """The usage, without options."""
        return " ".join([self.name, *(["[URL]"] if self.loads else []), *map(str, self.places)])

    @property
    def browser_options(self) -> Mapping[str, str]:
        """The options for the command's own browser, with their meanings; none if it loads no URL."""
        return OWN_BROWSER if self.loads else {}


OWN_BROWSER: Mapping[str, str] = {
    "--browser PATH": "The browser to start: a path, or chrome, chromium, edge, brave.",
    "--endpoint URL": (
        "Use a running browser: http://host:port or ws://... It keeps running. Without a URL to load, the command "
        "uses its first page."
    ),
    "--viewport SIZE": "The viewport of the page, by default 1280x720; none is the window's.",
    "--record FILE": "Record the protocol's traffic to FILE (JSON lines; .zst compresses), secrets redacted.",
    "--trace FILE": "Write a step trace to FILE (.zip), for cdpengine trace view.",
    "--unredacted": "With --record or --trace: write secrets too.",
    "--keep-arguments": "With --record or --trace: keep the arguments and results of scripts.",
    "--force": "Overwrite existing files.",
}
"""Options for the browser of a command that loads a URL."""

_OWN = (
    Verb(
        name="act",
        kind="",
        meaning="Perform any request, given as JSON; - reads it from standard input.",
        places=(Place("REQUEST", "request"),),
        example="""act '{"kind": "click", "ref": "e3", "doubleClick": true}'""",
    ),
    Verb(name="sessions", kind="", meaning="List the open sessions."),
    Verb(
        name="close",
        kind="",
        meaning="Close the session with all its pages; with the last one, the browser ends.",
        options={"--all": "Close all sessions."},
    ),
)
"""The verbs of the shell itself."""

_FIRST = (
    "open", "snapshot", "click", "type", "fill", "press", "select", "check", "uncheck", "hover", "scroll",
    "scroll-into-view", "drag", "upload", "highlight", "wait", "eval", "evaluate", "find", "get", "is", "extract",
    "text", "markdown", "screenshot", "pdf", "console", "requests", "back", "forward", "reload", "recover",
    "resize",
)  # fmt: skip
"""The order of the help. Other verbs follow as they are declared."""


def _make_verbs() -> Iterator[Verb]:
    """Yield the verbs that the classes of requests declare."""
    for kind, request in KINDS.items():
        for form in request.commands:
            yield Verb(
                name=form.name or snake_case(kind, "-"),
                kind=kind,
                meaning=form.meaning or summary_of(request),
                places=form.places,
                preset=form.preset,
                options=form.options,
                flags=form.flags,
                example=form.example,
                loads=form.loads,
                console=form.console and request.needs_page and not request.uses_protocol,
                in_scripts=form.script and _is_offered_to_scripts(request),
            )


def _is_offered_to_scripts(request: type[ActRequest]) -> bool:
    """Return whether action scripts can have a verb: its tool needs no capability, and it uses no files."""
    in_scripts = request.tool is not None and request.tool.capability in ("core", "more")
    return in_scripts and not file_fields(request)


def _rank(verb: Verb) -> int:
    return _FIRST.index(verb.name) if verb.name in _FIRST else len(_FIRST)


TABLE: Sequence[Verb] = (*sorted(_make_verbs(), key=_rank), *_OWN)

VERBS: Mapping[str, Verb] = {verb.name: verb for verb in TABLE}
"""All verbs, by name."""


# --- names ---------------------------------------------------------------------------------------------------


def option_name(field: str) -> str:
    """Return the option of a field: "--max-depth" for "max_depth"."""
    return f"--{field.replace('_', '-')}"


def field_name(verb: Verb | None, field: str) -> str:
    """Return the command-line name of a JSON field: "--max-depth", or the name of a positional argument."""
    snake = re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", field)
    if snake in ("ref", "selector"):
        snake = "target"
    place = next((each.name for each in verb.places if each.field == snake), None) if verb else None
    return place or option_name(snake)


@cache
def option_fields(verb: Verb) -> Mapping[str, attrs.Attribute[Any]]:
    """Return the fields of a verb's request that are options, by option name."""
    if verb.request is None:
        return {}
    taken = {place.field for place in verb.places} | set(verb.preset)
    if verb.kind == "fill":
        taken.add("fields")
    fields = {option_name(each.name): each for each in attrs.fields(verb.request) if each.name not in taken}
    return {name: each for name, each in fields.items() if name not in verb.flags}


@cache
def option_names(verb: Verb) -> tuple[frozenset[str], frozenset[str]]:
    """Return the options of a verb that have no value, and those with a value."""
    own = [each.partition(" ") for each in (*verb.options, *verb.browser_options)]
    flags = {"--json", *verb.flags, *(name for name, _, value in own if not value)}
    valued = {"--session", *(name for name, _, value in own if value)}
    valued.update(*(place.options for place in verb.places))
    for name, field in option_fields(verb).items():
        (flags if is_flag(field) else valued).add(name)
    return frozenset(flags), frozenset(valued)


def is_flag(field: attrs.Attribute[Any]) -> bool:
    """Return whether the option of a field has no value."""
    return field.default is False


_BY_KIND: Mapping[str, Verb] = {verb.kind: verb for verb in reversed(TABLE) if verb.kind}
"""The first verb of each kind."""


def _name_request(kind: str, field: str, value: str) -> str:
    verb = _BY_KIND[kind]
    if not field:
        return f"cdpengine {verb.name}"
    name = field_name(verb, field)
    return f"cdpengine {verb.name} {f'{name} ' if name.startswith('--') else ''}{shlex.quote(value)}"


def _name_place(kind: str, field: str) -> str:
    return _name_argument(_BY_KIND[kind], field)


def _name_argument(verb: Verb, field: str) -> str:
    return f"{verb.name} {field_name(verb, field)}" if field else verb.name


def _name_field(field: str) -> str:
    return field_name(None, field)


WORDS = Words(
    kinds=tuple(KINDS),
    name_request=_name_request,
    name_place=_name_place,
    name_field=_name_field,
    hints={
        ADVICE[
            errors.InvalidArgumentError
        ].hint: "Correct the command as the message explains; --help shows its arguments and options.",
        ADVICE[
            errors.ConnectionLostError
        ].hint: "The browser has ended. cdpengine open URL starts a new one.",
        ADVICE[errors.StaleRefError].hint: "cdpengine snapshot shows the page with its refs.",
    },
)
"""The words of the shell, for errors of any request."""


def words_of(verb: Verb) -> Words:
    """Return the words for errors of a command: they name it, and no other command with the same request."""

    def name_place(kind: str, field: str) -> str:
        return _name_argument(verb if kind == verb.kind else _BY_KIND[kind], field)

    return attrs.evolve(WORDS, name_place=name_place)
