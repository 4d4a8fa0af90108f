"""The output of commands: short text for people and models, or the whole response as JSON, and the exit status.

Rule: standard output has the result of the command and nothing else: "done" if the request has no result. Notes
are on standard error: effects of the action, empty and shortened results, entries of the action cache, errors and
hints. With `--json`, standard output has the whole response. Content of a page cannot control a terminal.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from cdpengine import _json
from cdpengine._json_values import to_plain
from cdpengine.act import KINDS, ActResponse, Evaluate, Failure
from cdpengine.act.response import describe_cached, describe_effects, describe_failure, shorten_diff
from cdpengine.errors import EngineError
from cdpengine.errors.texts import escape_json, escape_line, escape_lines, hide_secrets
from cdpengine.shell.cache_output import PRINTED, describe_cache_result, render

DONE = 0
FAILED = 1
USED_WRONGLY = 2
TIMED_OUT = 3
UNREACHABLE = 4

STATUS: Mapping[str, int] = {
    "invalidArgument": USED_WRONGLY,
    "actionSyntax": USED_WRONGLY,
    "evaluationTimeout": TIMED_OUT,
    "serviceUnavailable": UNREACHABLE,
}
"""Exit status by the kind of error; all others are FAILED."""


@attrs.frozen
class Printed:
    """Standard output, standard error, and the exit status. `raw`: the output is UTF-8 without escapes."""

    status: int
    out: str = ""
    err: str = ""
    raw: bool = False

    def encode(self, encoding: str, *, as_json: bool) -> tuple[int, bytes, bytes]:
        """Return the status and both texts as bytes. Characters outside of the encoding become escapes."""
        out = self.out
        try:
            data = _json.replace_unpaired(out).encode() if self.raw else out.encode(encoding)
        except (UnicodeEncodeError, LookupError):
            # Python's escapes would be invalid JSON.
            data = (
                f"{_json.encode_ascii(_json.decode_leniently(out))}\n".encode()
                if as_json
                else out.encode("ascii", "backslashreplace")
            )
        try:
            return self.status, self.err.encode(encoding, "backslashreplace"), data
        except LookupError:
            return self.status, self.err.encode("ascii", "backslashreplace"), data


def print_response(response: ActResponse, *, as_json: bool, raw: bool = False) -> Printed:
    """Return the output of a response. `raw`: a result that is a string is written unchanged."""
    if response.error is not None:
        return print_failure(response.error, response=response, as_json=as_json)
    if raw and isinstance(response.result, str):
        return Printed(DONE, response.result, _join(describe_effects(response.effects)), raw=True)
    failure = _stopped_replay(response) or _stored_nothing(response)
    status = FAILED if failure or _found_nothing(response) else DONE
    err = f"Error: {escape_lines(failure)}\n" if failure else ""
    if as_json:
        return Printed(status, _to_json(response.to_json()), err)
    verb = KINDS.get(response.kind)
    lines = [*format_result(response)]
    notes = [] if verb is None else [*verb.notes(response.result)]
    notes += [*describe_effects(response.effects), *describe_cached(response.cached)]
    if response.diff is not None:
        lines.append(escape_lines(shorten_diff(response.diff)))
    if (verb is None or verb.listed is None) and not failure:
        lines = lines or ["done"]
    return Printed(status, _join(lines), f"{err}{_join(notes)}")


def _join(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _stopped_replay(response: ActResponse) -> str:
    """Return why a replay of the action cache stopped, or "" for other responses."""
    if (
        response.kind != "executeCached"
        or not isinstance(response.result, Mapping)
        or response.result.get("ok", True)
    ):
        return ""
    reason = escape_line(hide_secrets(str(response.result.get("reason") or "unknown reason")))
    return f"the replay stopped: {reason}"


def _stored_nothing(response: ActResponse) -> str:
    """Return why the end of learning stored nothing, or "" for other responses."""
    if response.kind != "stopLearning" or not isinstance(response.result, Mapping):
        return ""
    if response.result["stored"] or not response.result["kept"]:
        return ""
    return "nothing was stored: no action became a step\nHint: Perform the actions after start-learning."


def _found_nothing(response: ActResponse) -> bool:
    """Return whether a search found no element or a state is false: `find` exits like grep, `is` like test."""
    if response.kind == "is":
        return response.result is False
    return response.kind == "find" and isinstance(response.result, Mapping) and not response.result["count"]


def print_error(error: EngineError, hint: str, *, kind: str, as_json: bool) -> Printed:
    """Return the output of an error that occurred before the request."""
    failure = attrs.evolve(describe_failure(error), hint=hint)
    return print_failure(failure, response=ActResponse(kind=kind, ok=False, error=failure), as_json=as_json)


def print_failure(failure: Failure, *, response: ActResponse, as_json: bool) -> Printed:
    """Return the output of an error: one line, and a hint; with `as_json`, the whole response, too."""
    message = escape_line(hide_secrets(_in_one_line(failure.message)))
    err = f"Error: {message}\nHint: {escape_line(failure.hint)}\n{_join(describe_effects(response.effects))}"
    out = _to_json(response.to_json()) if as_json else ""
    return Printed(STATUS.get(failure.kind, FAILED), out, err)


def _in_one_line(message: str) -> str:
    """Return a message without the list of attempts at its end, which the JSON contains.

    A list after a colon is kept, because it is not a list of attempts.
    """
    first, *rest = [line.strip() for line in message.splitlines()] or [""]
    has_list = first.endswith(":") and rest[:1] != [] and rest[0].startswith("- ")
    for line in rest:
        if not line.startswith("- "):
            first += f" {line}" if first.endswith((":", ".")) else f"; {line}"
        elif has_list:
            first += f" {line[2:]}" if first.endswith(":") else f", {line[2:]}"
    return first


def _to_json(document: Mapping[str, Any]) -> str:
    return f"{escape_json(_json.encode_text(document))}\n"


# --- results -------------------------------------------------------------------------------------------------


def format_result(response: ActResponse) -> Sequence[str]:
    """Return the lines of a response's result, safe to print."""
    result = to_plain(response.result)
    if response.kind in PRINTED:
        return list(render(describe_cache_result(response.kind, result, time.time())))
    verb = KINDS.get(response.kind)
    lines = None if verb is None else verb.text_lines(result)
    if lines is not None:
        return [escape_lines(line) for line in lines]
    if result is None:
        return ["null"] if response.kind == Evaluate.kind else []
    return [escape_lines(result if isinstance(result, str) else _json.encode_text(result))]
