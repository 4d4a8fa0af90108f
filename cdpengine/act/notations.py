"""The forms of a verb for its clients: a tool of MCP, and a command of the shell.

Rule: a form is plain data in the class of its verb. The client's layer builds its tools or commands from these
forms. What a form omits follows from the class: names from the kind, the sentence from the docstring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs

Capability = Literal[
    "core", "more", "scripts", "files", "storage", "emulation", "network", "wire", "performance", "cache"
]


@attrs.frozen(kw_only=True)
class ToolForm:
    """The tool of a verb.

    `name`: by default the kind in snake_case. Verbs with the same name share a tool, which gets a field `action`:
    each verb has its value, and the first one is the default. The first verb also sets `meaning`, `capability`
    and `acts` of the tool. `meaning` is one short sentence. `fields` are the fields that the tool shows besides
    the required ones. `acts`: the tool's result is the page's changes.
    """

    name: str = ""
    meaning: str = ""
    action: str = ""
    fields: Sequence[str] = ()
    capability: Capability = "core"
    acts: bool = False


@attrs.frozen
class Place:
    """A positional argument: its name in the usage (capitals), its field, and its allowed number.

    `rest`: in the protocol console, whose lines have no quotes around texts, it is the rest of the line. `options`
    are options of the shell that give the same argument, such as --output for FILE.
    """

    name: str
    field: str
    needed: bool = True
    many: bool = False
    rest: bool = False
    options: Sequence[str] = ()

    @property
    def is_element(self) -> bool:
        """Whether the argument is an element: a ref or a selector."""
        return self.field in ("target", "start_ref", "end_ref")

    def __str__(self) -> str:
        text = f"{self.name}..." if self.many else self.name
        return text if self.needed else f"[{text}]"


@attrs.frozen(kw_only=True)
class CommandForm:
    """A command of the shell for a verb.

    `name`: by default the kind in kebab-case. `meaning` is one sentence. All fields that are neither in `places`
    nor in `preset` are options of the command. `preset` are fields with fixed values; `options` are options of the
    shell itself, with their meanings. `flags` are further options without a value, and the field and value that
    each sets. `loads`: the first argument can be a URL; then the command loads it in a browser of its own.
    `console`: the protocol console has it, too, as !NAME; it has only verbs of one page. `script`: action scripts
    have it, if its tool needs no capability and it uses no files.
    """

    name: str = ""
    meaning: str = ""
    places: Sequence[Place] = ()
    preset: Mapping[str, Any] = attrs.field(factory=dict)
    options: Mapping[str, str] = attrs.field(factory=dict)
    flags: Mapping[str, tuple[str, Any]] = attrs.field(factory=dict)
    example: str = ""
    loads: bool = False
    console: bool = True
    script: bool = True


TARGET = Place("TARGET", "target")
"""An element: a ref of the last snapshot ("e3"; "@e3" and "3" are the same), or a CSS selector."""

MAYBE_TARGET = Place("TARGET", "target", needed=False, options=("--target",))
FILE = Place("FILE", "path", needed=False, options=("--output", "-o"))
