"""The options of a replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypedDict

from cdpengine.act import Actor
from cdpengine.act.confirming import Confirm
from cdpengine.cache.changes import PageType, Thresholds
from cdpengine.cache.entries import Step


class ConfirmOptions(TypedDict, total=False):
    """The callable that confirms steps, and the selection of these steps."""

    confirm: Confirm | None
    confirm_if: Callable[[Step], bool] | None


class ExecutionOptions(ConfirmOptions, total=False):
    """The keyword options of `execute_entry`."""

    from_index: int
    to_index: int | None
    dry_run: bool
    force: bool
    actor: Actor | None
    patience: float
    thresholds: Mapping[PageType, Thresholds]
