"""The actions of the console: the verbs of the shell for one page, and its own actions. Pure.

Rule: an action of a verb has the same name, arguments and options as in the shell. It also has the kind of its
request as a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args, get_origin, get_type_hints

import attrs

from cdpengine.act.commands.verbs import TABLE, Verb
from cdpengine.act.fields import secret_fields
from cdpengine.act.requests import ActingRequest

Work = Literal["none", "question", "work", "script"]
"""Effect of a line on its target: nothing; an answer; possibly page code; or the line's script.

It decides how a stopped line is ended.
"""


@attrs.frozen
class Action:
    """An action of the console: its syntax, its description, and its effect on the page.

    `takes` lists the completions of each word: "refs", "targets", "patterns", or literal words. If `usage`
    contains "...", the last entry applies to all further words. `verb` is the verb of the shell with the same name
    and arguments, None for an action of the console itself.
    """

    usage: str
    does: str
    work: Work = "question"
    takes: tuple[tuple[str, ...], ...] = ()
    verb: Verb | None = None


_REF = (("refs",),)

_OWN: Mapping[str, Action] = {
    "targets": Action("!targets", "list the targets, with the numbers that !use takes", "none"),
    "use": Action("!use N", "send commands to target N; 0 is the browser itself", "none", (("targets",),)),
    "new": Action("!new [URL]", "open a page, and use it", "none"),
    "tap": Action("!tap REF", "touch an element", "work", _REF),
    "focus": Action("!focus REF", "give an element the keyboard focus", "work", _REF),
    "settle": Action("!settle", "wait until the page has come to rest"),
    "events": Action(
        "!events PATTERN... | off", "show events as they come: Network.*, *", takes=(("patterns",),)
    ),
    "next": Action(
        "!next PATTERN...", "wait for the next event that matches, and print it", takes=(("patterns",),)
    ),
    "recover": Action(
        "!recover [reload | close]",
        "end the script of a page that does not answer",
        "none",
        (("terminate", "reload", "close"),),
    ),
    "timeout": Action("!timeout SECONDS", "how long each command may take from now on", "none"),
    "statistics": Action("!statistics", "print the counts of the connections", "none"),
    "help": Action("!help", "print this list", "none"),
    "quit": Action("!quit", "leave", "none"),
}
"""The actions of the console itself."""


def _of_verb(verb: Verb) -> Action:
    """Return the action for a verb of the shell."""
    at = rest_of(verb)
    places = verb.places if at is None else verb.places[: at + 1]
    request = verb.request
    assert request is not None
    work: Work = "work" if issubclass(request, ActingRequest) else "question"
    fields, hints = attrs.fields_dict(request), get_type_hints(request)
    takes: list[tuple[str, ...]] = []
    for place in places:
        if place.is_element:
            takes.append(("refs",))
        elif place.field in fields and not place.rest:
            members = (hints[place.field], *get_args(hints[place.field]))
            literal = next((each for each in members if get_origin(each) is Literal), None)
            takes.append(get_args(literal))
        else:
            takes.append(())
    usage = " ".join([f"!{verb.name}", *map(str, places)])
    return Action(usage, verb.meaning, "script" if request.runs_script else work, tuple(takes), verb)


def rest_of(verb: Verb) -> int | None:
    """Return the number of the argument that takes the rest of a line."""
    return next((number for number, place in enumerate(verb.places) if place.rest), None)


ACTIONS: Mapping[str, Action] = {
    **_OWN,
    **{verb.name: _of_verb(verb) for verb in TABLE if verb.console},
}
"""All actions: the verbs of the shell for one page, and those of the console itself."""

_BY_KIND: Mapping[str, Action] = {
    action.verb.kind: action for action in reversed(tuple(ACTIONS.values())) if action.verb is not None
}

FORMER = {"goto": "open", "text": "extract", "double_click": "click"}
"""Former names of actions, and the present ones."""


def find_action(name: str) -> Action | None:
    """Return an action by its name, or by the kind of its request."""
    return ACTIONS.get(name) or _BY_KIND.get(name)


def first_secret(name: str, rest: str) -> int | None:
    """Return the number of the first word of an action's arguments that may be secret, or None."""
    action = find_action(name)
    verb = None if action is None else action.verb
    if verb is None or verb.request is None:
        return None
    secret, words = secret_fields(verb.request), rest.split()
    options = tuple(f"--{field.replace('_', '-')}" for field in secret)
    found = [number for number, word in enumerate(words) if word.startswith(options)]
    for number, place in enumerate(verb.places):
        if place.field in secret or (place.rest and not verb.request.runs_script):
            found += [number] if place.rest or number < len(words) else []
            break
    return min(found, default=None)
