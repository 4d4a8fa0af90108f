"""The verbs of the shell, as data: the request of each verb, and which of its fields are positional.

Rule: the classes of the verbs declare the commands. All other fields of the request's class are options
(`max_depth` is `--max-depth`), so the shell supports whatever a request supports. `client.VERBS` has the same
names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from cdpengine.act import KINDS, ActRequest
from cdpengine.act.fields import snake_case, summary_of
from cdpengine.act.notations import Place


@attrs.frozen(kw_only=True, eq=False)
class Verb:
    """A verb. `preset` are fields with fixed values; `options` are options of the shell itself.

    A `kind` of "" is a verb of the shell itself, without a request. `meaning` is one sentence. `console`: the
    protocol console has it, too.
    """

    name: str
    kind: str
    meaning: str
    places: Sequence[Place] = ()
    preset: Mapping[str, Any] = attrs.field(factory=dict)
    options: Mapping[str, str] = attrs.field(factory=dict)
    example: str = ""
    console: bool = False

    @property
    def request(self) -> type[ActRequest] | None:
        """The class of the request; None for a verb of the shell itself."""
        return KINDS[self.kind] if self.kind else None

    @property
    def usage(self) -> str:
        """The usage, without options."""
        return " ".join([self.name, *map(str, self.places)])


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
    "scroll-into-view", "drag", "upload", "highlight", "wait", "eval", "find", "extract", "screenshot", "pdf",
    "console", "requests", "back", "forward", "reload", "recover", "resize",
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
                example=form.example,
                console=form.console and request.needs_page and not request.uses_protocol,
            )


def _rank(verb: Verb) -> int:
    return _FIRST.index(verb.name) if verb.name in _FIRST else len(_FIRST)


TABLE: Sequence[Verb] = (*sorted(_make_verbs(), key=_rank), *_OWN)

VERBS: Mapping[str, Verb] = {verb.name: verb for verb in TABLE}
"""All verbs, by name."""
