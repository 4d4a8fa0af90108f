"""Evidence of a failed run: the changes of the page since its last snapshot, and a screenshot.

Rule: neither shows a value of a sensitive variable. The diff hides such values. The screenshot masks each
secret field and each element that shows such a value. If the engine cannot find all of them, for example in
an unreadable part of the page, it takes no screenshot and adds a remark. The time is limited, because the
page can hang.
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
"""Time limit for the evidence after a failure, in seconds."""

_LONGEST_DIFF = 20_000
_MASK = "#808080"


@attrs.frozen(kw_only=True)
class Evidence:
    """The evidence of a page. `remarks` are the reasons for missing evidence."""

    screenshot: bytes | None = None
    diff: str | None = None
    remarks: tuple[str, ...] = ()


async def gather_evidence(page: Page, values: Values, before: Snapshot | None) -> Evidence:
    """Return a screenshot of the page and its changes since a snapshot. Raises only Cancelled."""
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
    """Return the refs of all elements that can show a secret, or None if the list may be incomplete."""
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
    texts = (node.name, node.text, node.value or "", node.description, node.placeholder)
    return any(values.hide(text) != text for text in texts)
