"""Evidence: what a page showed when a run failed: what changed since it was last read, and a picture.

Rule: neither shows a value of a sensitive variable. In the text such values are hidden as they are written. In the
picture every field that holds something secret is painted over, and so is all that says such a value; where that
cannot be sure, as with a part of the page that could not be read, there is no picture, and a remark says so. Time
is bounded: a page that hangs is not waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._snapshot.snapshot import Snapshot, SnapshotNode
from cdpengine.act.response import shorten_diff
from cdpengine.cache.variables import Values
from cdpengine.errors import EngineError

if TYPE_CHECKING:
    from cdpengine import Page

_LOOKING = 6.0
"""Seconds in which a page is looked at after a failure."""

_LONGEST_DIFF = 20_000
_MASK = "#808080"


@attrs.frozen(kw_only=True)
class Evidence:
    """What a page showed. `remarks` say what is missing, and why."""

    screenshot: bytes | None = None
    diff: str | None = None
    remarks: tuple[str, ...] = ()


async def gather_evidence(page: Page, values: Values, before: Snapshot | None) -> Evidence:
    """Return what a page shows, and what changed since the snapshot before. Raises nothing but Cancelled."""
    evidence = Evidence()
    with trio.move_on_after(_LOOKING) as scope:
        try:
            snapshot = await page.snapshot(since=before, timeout=_LOOKING)
            evidence = attrs.evolve(evidence, diff=_diff(snapshot, values))
            evidence = await _take_picture(page, values, snapshot, evidence)
        except EngineError as error:
            reason = values.hide(str(error))
            evidence = attrs.evolve(
                evidence, remarks=(*evidence.remarks, f"the page could not be looked at: {reason}")
            )
    if scope.cancelled_caught:
        evidence = attrs.evolve(
            evidence, remarks=(*evidence.remarks, f"the page could not be looked at within {_LOOKING:g} s")
        )
    return evidence


def _diff(snapshot: Snapshot, values: Values) -> str:
    if snapshot.diff is None:
        text = f"# the page, which was not read before\n{snapshot.text}"
    else:
        text = shorten_diff(str(snapshot.diff))
    text = values.hide(text)
    return text if len(text) <= _LONGEST_DIFF else f"{text[:_LONGEST_DIFF]}\n# cut"


async def _take_picture(page: Page, values: Values, snapshot: Snapshot, evidence: Evidence) -> Evidence:
    if not values.has_secrets:
        return attrs.evolve(evidence, screenshot=await page.screenshot(timeout=_LOOKING))
    masked = find_secret_refs(snapshot, values)
    if masked is None:
        return _without(evidence, "a part of the page that may show a secret could not be painted over")
    picture = await page.screenshot(mask=sorted(masked), mask_color=_MASK, timeout=_LOOKING)
    after = find_secret_refs(await page.snapshot(timeout=_LOOKING), values)
    if after is None or not after <= masked:
        return _without(evidence, "the page changed while it was taken, and may have shown a secret")
    return attrs.evolve(evidence, screenshot=picture)


def _without(evidence: Evidence, reason: str) -> Evidence:
    return attrs.evolve(evidence, remarks=(*evidence.remarks, f"no picture: {reason}"))


def find_secret_refs(snapshot: Snapshot, values: Values) -> set[str] | None:
    """Return the refs of all that shows, or may show, a secret; None where it is not sure that these are all."""
    if snapshot.gaps:
        return None
    nodes = snapshot.nodes
    found: set[str] = set()
    for node in nodes:
        if not _is_secret(node, values):
            continue
        around: SnapshotNode | None = node
        while around is not None and around.ref is None:
            around = None if around.parent is None else nodes[around.parent]
        if around is None or around.ref is None:
            return None
        found.add(around.ref.id)
    return found


def _is_secret(node: SnapshotNode, values: Values) -> bool:
    if node.states.get("value") == "hidden":
        return True
    said = (node.name, node.text, node.value or "", node.description, node.placeholder)
    return any(values.hide(text) != text for text in said)
