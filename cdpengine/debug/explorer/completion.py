"""Completion of a console's line: methods, parameters, values, actions, targets and refs. Pure.

Rule: what is offered is what the browser's own protocol has, and what is there now; never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from cdpengine.debug.explorer.console import ACTIONS
from cdpengine.debug.explorer.protocol import Protocol
from cdpengine.debug.explorer.protocol_text import brief

_VALUE = re.compile(r"(\w+)=([^\s\"'{\[]*)\Z")
_OPEN = re.compile(r"=([\"'{\[])[^\"'}\]]*\Z")
"""A value in quotes or brackets that is not closed yet."""

_TAKEN = re.compile(r"(?:^|\s)(\w+)=")


@attrs.frozen
class Candidate:
    """A text that fits in place of the last `replaces` characters, and a `note` that says what it is."""

    text: str
    replaces: int
    note: str = ""


def complete(
    line: str, protocol: Protocol | None, *, words: Mapping[str, Sequence[str]] | None = None
) -> list[Candidate]:
    """Return what may follow `line`, which ends at the cursor.

    `words` are "targets" (numbers for !use) and "refs" (of the last snapshot).
    """
    text = line.lstrip()
    if text.startswith("!"):
        return list(_action(text[1:], protocol, words or {}))
    if protocol is None:
        return []
    if text.startswith("?"):
        prefix = text[1:].lstrip()
        return list(_names(prefix, (entry.name for entry in protocol.entries()), protocol))
    if " " not in text:
        return list(_names(text, protocol.commands, protocol))
    method, _, rest = text.partition(" ")
    return list(_parameters(method, rest, protocol))


def _names(prefix: str, names: Iterable[str], protocol: Protocol) -> Iterator[Candidate]:
    low = prefix.casefold()
    known = list(names)
    if "." not in prefix:
        domains = dict.fromkeys(name.partition(".")[0] for name in known)
        for domain in domains:
            if domain.casefold().startswith(low):
                yield Candidate(f"{domain}.", len(prefix))
        if len(low) < 3:
            return
    for name in sorted(known, key=str.casefold):
        folded = name.casefold()
        if "." in name and (folded.startswith(low) or ("." not in low and f".{low}" in folded)):
            yield Candidate(name, len(prefix), brief(protocol.find(name)[0].item))


def _parameters(method: str, rest: str, protocol: Protocol) -> Iterator[Candidate]:
    command = protocol.commands.get(method)
    if command is None or rest.lstrip().startswith("{"):
        return
    domain = method.partition(".")[0]
    if value := _VALUE.search(rest):
        for field in command.parameters:
            if field.name == value[1]:
                for allowed in protocol.values(field, domain):
                    if allowed.casefold().startswith(value[2].casefold()):
                        yield Candidate(allowed, len(value[2]))
        return
    if _OPEN.search(rest):
        return
    taken = set(_TAKEN.findall(rest))
    prefix = re.split(r"\s", rest)[-1]
    for field in command.parameters:
        if field.name not in taken and field.name.casefold().startswith(prefix.casefold()):
            note = ("optional; " if field.optional else "") + shorten_text(field.description)
            yield Candidate(f"{field.name}=", len(prefix), note)


def shorten_text(text: str) -> str:
    """Return the first sentence, in one line."""
    return " ".join(text.split()).split(". ")[0].removesuffix(".")[:80]


def _action(text: str, protocol: Protocol | None, words: Mapping[str, Sequence[str]]) -> Iterator[Candidate]:
    name, space, rest = text.partition(" ")
    if not space:
        for known, described in ACTIONS.items():
            if known.startswith(name):
                yield Candidate(f"!{known}", len(text) + 1, described.does)
        return
    if name not in ACTIONS or not ACTIONS[name].takes:
        return
    action = ACTIONS[name]
    before, last = rest.split(" ")[:-1], rest.split(" ")[-1]
    place = len([word for word in before if word])
    if place >= len(action.takes) and not action.usage.partition("|")[0].rstrip().endswith("..."):
        return
    for kind in action.takes[min(place, len(action.takes) - 1)]:
        match kind:
            case "patterns":
                yield from _patterns(last, protocol, also_off=name == "events") if protocol else ()
            case "refs" | "targets":
                for word in words.get(kind, ()):
                    if word.startswith(last):
                        yield Candidate(word, len(last))
            case _ if kind.startswith(last):
                yield Candidate(kind, len(last))


def _patterns(prefix: str, protocol: Protocol, *, also_off: bool) -> Iterator[Candidate]:
    low = prefix.casefold()
    for domain in protocol.domains:
        if domain.events and f"{domain.name}.*".casefold().startswith(low):
            yield Candidate(f"{domain.name}.*", len(prefix), f"{len(domain.events)} events")
    if "." in low:
        for name, event in protocol.events.items():
            if name.casefold().startswith(low):
                yield Candidate(name, len(prefix), brief(event))
    if also_off and "off".startswith(low):
        yield Candidate("off", len(prefix), "show no events")
