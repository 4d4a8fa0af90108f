"""The marker `browser_version`: conditions for the version of the browser, such as ">=130" or "<131.0.6700".

Rule: a condition compares as many numbers as it has, so ">130" excludes every 130.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

import pytest

_CONDITION = re.compile(r"(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+){0,3})")

_COMPARISONS: dict[str, Callable[[list[int], list[int]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def skip_other_versions(item: pytest.Item, version: str) -> None:
    """Skip a test unless the version meets all conditions of its markers. Raises UsageError for a wrong one."""
    for marker in item.iter_markers("browser_version"):
        reason = marker.kwargs.get("reason", "")
        if not marker.args or marker.kwargs.keys() - {"reason"} or not isinstance(reason, str):
            raise pytest.UsageError(f'{item.nodeid}: expected browser_version(">=130", ..., reason="...")')
        for condition in marker.args:
            if not meets(version, condition, item.nodeid):
                pytest.skip(
                    f"the browser has version {version}, needed is {condition}{reason and f': {reason}'}"
                )


def meets(version: str, condition: object, place: str = "browser_version") -> bool:
    """Return whether a version meets a condition. Raises UsageError for an invalid condition."""
    found = _CONDITION.fullmatch(condition.strip()) if isinstance(condition, str) else None
    if found is None:
        raise pytest.UsageError(
            f'{place}: got the condition {condition!r}, expected an operator and a version, such as ">=130"'
        )
    wanted = [int(number) for number in found[2].split(".")]
    actual = [int(number) for number in version.split(".")][: len(wanted)]
    return _COMPARISONS[found[1]](actual, wanted)
