"""Answers to commands in a session that does not exist, without the start of a service, a browser or a session.

Rule: commands that open a page, or that need none, are performed as usual.
"""

from __future__ import annotations

import attrs

from cdpengine.act import ActResponse
from cdpengine.act.commands.parsing import Command
from cdpengine.act.commands.verbs import words_of
from cdpengine.act.parsing import parse_request
from cdpengine.act.response import NoOpenPageError, describe_failure, reword
from cdpengine.errors import EngineError
from cdpengine.shell.printing import Printed, print_response


def answer_without_session(command: Command) -> Printed | None:
    """Return the output of a command that lists the tabs or needs a page; None for all other commands."""
    if command.request is None:
        return None
    kind = str(command.request.get("kind", ""))
    try:
        request = parse_request(command.request)
        if kind == "tabs" and "--endpoint" not in command.options:
            return print_response(ActResponse(kind=kind, ok=True, result=[]), as_json=command.as_json)
        if not request.wants_page() or request.opens_url:
            return None
        raise NoOpenPageError(what=kind, given="no open page", expected="a navigate request first")
    except EngineError as error:
        failure = describe_failure(error)
    return print_outcome(command, ActResponse(kind=kind, ok=False, error=failure))


def print_outcome(command: Command, response: ActResponse) -> Printed:
    """Return the output of a command's response, in the words of the shell."""
    response = reword(response, words_of(command.verb))
    error = response.error
    if error is not None and error.no_page:
        hint = "Open a page first: cdpengine open URL."
        if command.verb.loads:
            hint = f"{hint} Or give the whole URL to this command: cdpengine {command.verb.name} https://..."
        response = attrs.evolve(response, error=attrs.evolve(error, hint=hint))
    return print_response(response, as_json=command.as_json, raw="--raw" in command.options)
