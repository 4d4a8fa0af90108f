"""Descriptions of calls and outcomes for step traces. Pure.

Rule: entered strings, and arguments and results of scripts, are withheld as in recordings.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdpengine._api.page.targets import describe_target
from cdpengine._input.action import ActionOutcome
from cdpengine._page.announcing import ActionCall
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.errors import EngineError

WITHHELD = "[withheld]"
REDACTED = "[redacted]"

READS = frozenset({
    "title", "content", "snapshot", "accessibility_issues", "extract_text", "extract_markdown", "pdf", "find",
    "find_all", "screenshot", "settled", "bounding_box", "text_content", "inner_text", "inner_html", "outer_html",
    "get_attribute", "input_value", "computed_style", "is_visible", "is_hidden", "is_enabled", "is_disabled",
    "is_editable", "is_focused", "is_checked", "wait_for", "expect",
})  # fmt: skip
"""Methods that do not change the page."""

_TARGETS = frozenset({"target", "source", "destination"})
_ENTERED = frozenset({"text", "value", "fields", "values", "paths", "prompt_text", "files", "html"})
_SCRIPTS = frozenset({"evaluate", "evaluate_handle"})
_LONGEST = 2_000
_OMITTED = frozenset({"timeout"})
_PACKAGE = str(Path(__file__).parents[2])
_PYTEST_PLUGIN = str(Path(_PACKAGE, "testing", "pytest_plugin"))


def is_read(call: ActionCall) -> bool:
    """Return whether a call does not change the page."""
    return call.verb in READS if call.request is None else call.request.reads


def describe_call(call: ActionCall, *, redacted: bool, keep_arguments: bool) -> dict[str, str]:
    """Return the arguments of a call as strings, without those that have an empty or false default."""
    described = {}
    if call.request is not None:
        secret, scripts = call.request.secret, call.request.runs_script
    else:
        secret = () if call.verb in READS or call.verb == "select" else _ENTERED
        scripts = call.verb in _SCRIPTS
    for name, value in call.arguments.items():
        if value is None or value is False or value == () or value == {} or name in _OMITTED:
            continue
        if name in _TARGETS:
            described[name] = describe_target(value) if not isinstance(value, tuple) else str(value)
        elif isinstance(value, Snapshot):
            described[name] = f"a snapshot of {value.stats.lines} lines"
        elif scripts and redacted and not keep_arguments:
            described[name] = WITHHELD
        elif redacted and name in secret:
            described[name] = REDACTED
        else:
            described[name] = _short(value)
    return described


def describe_field(call: ActionCall, argument: str) -> dict[str, str]:
    """Return the "selector" or the "locator" of a form's field, such as "field 2". {} for other arguments."""
    name, _, number = argument.partition(" ")
    fields = call.arguments.get("fields")
    if name != "field" or fields is None:
        return {}
    field = list(fields)[int(number) - 1]
    if isinstance(fields, Mapping):
        return {"locator": describe_target(field)}
    selector = getattr(field, "selector", None)
    return {} if selector is None else {"selector": selector}


def describe_outcome(
    call: ActionCall, *, redacted: bool, keep_arguments: bool
) -> dict[str, Any] | str | None:
    """Return the outcome of a call, None without one. Snapshots and pictures are described elsewhere."""
    outcome = call.outcome
    if isinstance(outcome, ActionOutcome):
        return _describe_action(outcome)
    if outcome is None or isinstance(outcome, Snapshot):
        return None
    if isinstance(outcome, bytes):
        return f"{len(outcome):,} bytes"
    scripts = call.verb in _SCRIPTS if call.request is None else call.request.runs_script
    if scripts and redacted and not keep_arguments:
        return WITHHELD
    if call.request is not None and isinstance(outcome, dict):
        return {name: _short(value) for name, value in outcome.items()}
    return _describe_fields(outcome) or _short(outcome)


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return the kind and the message of an error."""
    message = str(error) if isinstance(error, EngineError) else ""
    return {"kind": type(error).__name__, "message": message, "notes": list(getattr(error, "__notes__", ()))}


def find_caller() -> str:
    """Return "file:line" of the program's call, "" if it is unknown or the pytest plugin makes the call itself."""
    frame = inspect.currentframe()
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_PYTEST_PLUGIN):
            return ""
        if not name.startswith((_PACKAGE, "<")) and "contextlib" not in name:
            return f"{Path(name).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _describe_action(outcome: ActionOutcome) -> dict[str, Any]:
    found: dict[str, Any] = {"target": outcome.target}
    if outcome.point is not None:
        found["point"] = [round(outcome.point.x, 1), round(outcome.point.y, 1)]
    for name in ("delivered", "received_by", "events", "elsewhere", "set_by_script", "chosen"):
        value = getattr(outcome, name)
        if value not in (None, False, "", ()) or (name == "delivered" and value is False):
            found[name] = value
    for name in ("navigation", "popup", "download"):
        if (value := getattr(outcome, name)) is not None:
            found[name] = _describe_fields(value)
    if outcome.dialogs:
        found["dialogs"] = [f"{each.type}: {each.message}" for each in outcome.dialogs]
        found["answers"] = ["accepted" if each.accepted else "dismissed" for each in outcome.dialogs]
    if outcome.healed is not None:
        found["healed"] = str(outcome.healed)
    return found


def short_url(url: str) -> str:
    """Return a URL, cut if it is a document itself."""
    return f"{url[:80]}…" if url.startswith(("data:", "blob:")) and len(url) > 80 else url


def _describe_fields(value: object) -> dict[str, str]:
    """Return the public fields of an attrs object that are strings or numbers."""
    names = [field.name for field in getattr(type(value), "__attrs_attrs__", ())]
    fields = {name: getattr(value, name, None) for name in names}
    return {
        name: short_url(str(each))
        for name, each in fields.items()
        if not name.startswith("_") and isinstance(each, str | int | float) and each != ""
    }


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
