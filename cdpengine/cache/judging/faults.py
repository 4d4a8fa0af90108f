"""Faults: the reasons why a run stopped, and whether they count against its entry. Pure.

Rule: only "changed" counts against an entry. The page was reachable, but an element of a step is missing,
uncertain or not usable, or the step led to a different result. All other faults are caused by the caller, the
server or the browser. The same entry works with other values or at another time.
"""

from __future__ import annotations

import re
from typing import Literal

from cdpengine.act import ActRequest, Back, Download, Failure, Forward, Navigate, NewTab, Reload
from cdpengine.cache.entries import Step
from cdpengine.cache.templates import find_variables, request_variables
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    NavigationFailedError,
    PageUnresponsiveError,
    SessionGoneError,
    WrongOriginError,
)

Fault = Literal["changed", "rejected", "value", "address", "unreachable", "forbidden", "timeout", "ended"]
"""Why a run stopped.

- "changed": the page no longer fits the entry.
- "rejected": the page accepted the steps and rejected the input, such as a wrong password.
- "value": a field, a list or the page does not have a value of the caller.
- "address": the page or a URL of the caller is wrong.
- "unreachable": the server does not respond, or responds with a server error.
- "forbidden": the actor may not perform a step.
- "timeout": the caller's time limit ended.
- "ended": the page crashed, hung or was closed.
"""

_RULE = (
    "The cache stops using an entry after {} in a row; a success begins the count again. A run fails if the page "
    "can be reached and an element of a step is missing, ambiguous or cannot be acted on, if a step leads to "
    "something else, or if the page changed as a whole. A reported error counts as a failed run. Mistakes of the "
    "caller, unreachable servers, ended pages and cancelled runs are not failures."
)

Tone = Literal["error", "success", "plain"]

_ERROR = re.compile(
    r"\b(?:wrong|incorrect|invalid|error|fail(?:ed|ure|s)?|denied|unknown|unable|cannot|can't|could not|couldn't|"
    r"does(?: not|n't)|did(?: not|n't)|is(?: not|n't)|are(?: not|n't)|not (?:found|valid|allowed|match\w*)|"
    r"no (?:such|account|user|match)|must|required|missing|expired|locked|blocked|too (?:many|short|long)|"
    r"try again|again|out of stock|sold out|unavailable|falsch|ungültig|fehler|incorrecta?|inválid[oa]|erroné\w*|"
    r"invalide|erreur)\b"
    r"|错误|有误|不正确|无效|失败|不存在|不匹配|不能|无法|重试|必填|过期|锁定|缺货",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    r"\b(?:saved|stored|success\w*|done|thanks?|welcome|completed?|added|updated|sent|signed in|logged in)\b"
    r"|成功|已保存|完成|欢迎|谢谢|已添加|已更新|已发送",
    re.IGNORECASE,
)

_BAD_ADDRESS = re.compile(
    r"ERR_(?:INVALID_URL|UNKNOWN_URL_SCHEME|DISALLOWED_URL_SCHEME|FILE_NOT_FOUND|UNSAFE_PORT|NAME_NOT_RESOLVED|"
    r"ACCESS_DENIED|INVALID_RESPONSE)\b|has no document for"
)
_ENDED = frozenset({"sessionGone", "targetCrashed", "connectionLost", "pageUnresponsive"})
_FORBIDDEN = frozenset({"evaluationDisabled"})
_WRONG_ORIGIN = "wrongOrigin"
_OF_VALUES = frozenset({"optionNotFound", "valueRefused", "invalidArgument"})
_LOADING = (Navigate, NewTab, Back, Forward, Reload, Download)


def describe_rule(failures: int) -> str:
    """Describe the rule for disabling an entry. `failures` is the option of the same name."""
    return _RULE.format("1 failed run" if failures == 1 else f"{failures} failed runs")


def read_tone(message: str) -> Tone:
    """Classify a message as an error, a success or neither."""
    if _ERROR.search(message):
        return "error"
    return "success" if _SUCCESS.search(message) else "plain"


def is_mistake(fault: Fault | None) -> bool:
    """Return whether the fault of a stopped run does not count against its entry."""
    return fault not in (None, "changed")


def judge_error(error: EngineError) -> Fault:
    """Return the fault of an error during a search for elements or a wait for a condition."""
    if isinstance(error, (SessionGoneError, ConnectionLostError, PageUnresponsiveError)):
        return "ended"
    if isinstance(error, WrongOriginError):
        return "address"
    if isinstance(error, NavigationFailedError):
        return judge_loading(error.reason)
    return "changed"


def judge_loading(reason: str) -> Fault:
    """Return the fault for Chrome's reason of a failed load."""
    return "address" if _BAD_ADDRESS.search(reason) else "unreachable"


def judge_failure(request: ActRequest, step: Step, failure: Failure) -> Fault:
    """Return the fault of a failed request. `request` contains the values, `step` the templates."""
    kind = failure.kind
    if kind in _ENDED:
        return "ended"
    if kind in _FORBIDDEN:
        return "forbidden"
    if _WRONG_ORIGIN in (kind, *failure.causes):
        return "address"
    if isinstance(request, _LOADING):
        if kind in ("navigationFailed", "downloadFailed"):
            return judge_loading(failure.message)
        if kind == "deadlineExceeded":
            return "unreachable"
        if kind == "invalidArgument":
            return "address"
    of_values = kind in _OF_VALUES or (
        kind == "form" and bool(failure.causes) and set(failure.causes) <= _OF_VALUES
    )
    return "value" if of_values and enters_values(step) else "changed"


def enters_values(step: Step) -> bool:
    """Return whether a step enters, selects or navigates to a value of the caller."""
    return bool(request_variables(step.request))


def is_named_by_caller(step: Step) -> bool:
    """Return whether the name or item of a step's target contains a value of the caller."""
    return any(find_variables(each.name) or find_variables(each.item) for each in step.targets.values())
