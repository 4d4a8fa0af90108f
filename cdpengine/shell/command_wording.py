"""The words of the shell: errors and hints name commands instead of requests."""

from __future__ import annotations

from collections.abc import Mapping

from cdpengine import errors
from cdpengine.act import KINDS
from cdpengine.act.words.advice import ADVICE
from cdpengine.act.words.wording import Words
from cdpengine.shell.parsing import field_name
from cdpengine.shell.verbs import TABLE, Verb

_VERBS: Mapping[str, Verb] = {verb.kind: verb for verb in reversed(TABLE) if verb.kind}
"""The first verb of each kind."""


def _name_request(kind: str, field: str, value: str) -> str:
    verb = _VERBS[kind]
    if not field:
        return f"cdpengine {verb.name}"
    name = field_name(verb, field)
    return f"cdpengine {verb.name} {f'{name} ' if name.startswith('--') else ''}{value}"


def _name_place(kind: str, field: str) -> str:
    verb = _VERBS[kind]
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
