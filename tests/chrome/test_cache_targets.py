"""Each control of each flow, described in one design of the demo site, is found correctly or not at all in
each other.

The oracle is the control's `data-key`, which snapshots do not show. A control is also searched for on the
pages of all other steps. There, the only correct match is another element with the same key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import attrs
import pytest
import trio
from cache_flows import FLOWS, Visit, walk_flow
from cache_site.server import DESIGNS, Design, serve_site

import cdpengine
from cdpengine.cache import Values, describe_target
from cdpengine.cache.matching.finding import TargetMatch, find_target

pytestmark = pytest.mark.chrome

PAIRS = [(known, now) for known in DESIGNS for now in DESIGNS]

FOUND_IN_B = 36
"""Minimum number of the 40 controls of design "a" that must be found in "b". A search that always stops is
never wrong.
"""


@pytest.fixture(scope="module")
def seen(shared_endpoint: str) -> dict[Design, list[Visit]]:
    """Snapshots before each step of each flow, in each design, up to the step that the design lacks."""

    async def walk() -> dict[Design, list[Visit]]:
        found: dict[Design, list[Visit]] = {design: [] for design in DESIGNS}
        async with cdpengine.connect(shared_endpoint) as browser, serve_site() as site:
            page = await browser.new_page()
            for design in DESIGNS:
                for flow in FLOWS.values():
                    found[design] += await walk_flow(page, site, flow, design, flow.examples[0])
                    if design != "c":
                        assert site.touched == flow.keys(flow.examples[0])
                        assert site.submitted == flow.submitted(flow.examples[0])
            await page.close()
        return found

    return trio.run(walk)


def finds(
    seen: dict[Design, list[Visit]], known: Design, now: Design
) -> Iterator[tuple[Visit, Visit, TargetMatch]]:
    """Yield the search result for each control of one design, before each step in the other one."""
    for one in seen[known]:
        if one.ref is not None:
            target = describe_target(one.snapshot, one.ref)
            for other in seen[now]:
                yield one, other, find_target(other.snapshot, target, Values({}))


def test_each_page_has_the_expected_control(seen: dict[Design, list[Visit]]) -> None:
    steps = sum(len(flow.steps) for flow in FLOWS.values())
    for design in ("a", "b"):
        assert len([each for each in seen[design] if each.ref is not None]) == steps
    missing = [each.key for each in seen["c"] if each.ref is None]
    assert missing == [
        flow.steps[place].key for flow in FLOWS.values() if (place := flow.gone("c")) is not None
    ]
    assert len(missing) == len(FLOWS)


@pytest.mark.parametrize(("known", "now"), PAIRS)
def test_control_never_matches_another_control(
    seen: dict[Design, list[Visit]], known: Design, now: Design
) -> None:
    wrong = [
        f"{one.key} is {other.keys[match.ref] or match.ref} before {other.key}: {match.level}, {match.reason}"
        for one, other, match in finds(seen, known, now)
        if match.ref is not None and other.keys[match.ref] != one.key
    ]
    assert wrong == []


@pytest.mark.parametrize(("known", "now"), PAIRS)
def test_a_control_is_found_where_its_design_has_not_changed(
    seen: dict[Design, list[Visit]], known: Design, now: Design
) -> None:
    levels = Counter(
        match.level
        for one, other, match in finds(seen, known, now)
        if one.key == other.key and other.ref is not None
    )
    if known == now:
        assert set(levels) == {"exact"}
    elif (known, now) == ("a", "c") or (known, now) == ("c", "a"):
        assert set(levels) == {"exact"}  # apart from the missing control, "c" equals "a"
    elif (known, now) == ("a", "b"):
        assert levels["exact"] + levels["healed"] >= FOUND_IN_B
        assert levels["healed"] >= 5
    else:
        assert levels["exact"] > 0


@pytest.mark.parametrize("known", ["a", "b"])
def test_missing_control_is_not_found_with_reason(seen: dict[Design, list[Visit]], known: Design) -> None:
    gone = {each.key: each for each in seen["c"] if each.ref is None}
    stopped = {
        one.key: match
        for one, other, match in finds(seen, known, "c")
        if one.key == other.key and one.key in gone
    }
    assert stopped.keys() == gone.keys()
    for match in stopped.values():
        assert match.level in ("missing", "ambiguous")
        assert any(words in match.reason for words in ("is not there", "is missing", "exists, but")), (
            match.reason
        )


def test_variable_in_name_matches_its_value(seen: dict[Design, list[Visit]]) -> None:
    for known, now in PAIRS:
        one = next(each for each in seen[known] if each.step.key.startswith("shop.product"))
        assert one.ref is not None
        target = attrs.evolve(describe_target(one.snapshot, one.ref), name="${product}")
        other = next(each for each in seen[now] if each.step.key == one.step.key)
        for product in ("Tea bowl", "Milk jug", "Espresso cup", "Teapot"):
            match = find_target(other.snapshot, target, Values({"product": product}))
            key = None if match.ref is None else other.keys[match.ref]
            assert key in (None, f"shop.product.{product}")
            if product == "Teapot":
                assert key is None
