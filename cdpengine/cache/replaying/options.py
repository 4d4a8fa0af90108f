"""The options of a replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypedDict

from cdpengine.act import Actor
from cdpengine.act.confirming import Confirm
from cdpengine.cache.changes import PageType, Thresholds
from cdpengine.cache.entries import Step


class ConfirmOptions(TypedDict, total=False):
    """Who is asked before a step, and before which steps."""

    confirm: Confirm | None
    confirm_if: Callable[[Step], bool] | None


class ExecutionOptions(ConfirmOptions, total=False):
    """Further options of `execute_entry`: see there."""

    from_index: int
    to_index: int | None
    dry_run: bool
    force: bool
    actor: Actor | None
    patience: float
    thresholds: Mapping[PageType, Thresholds]
