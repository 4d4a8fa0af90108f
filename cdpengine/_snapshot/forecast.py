"""How long Chrome's accessibility tree of a document would take, and which source that leaves. Pure.

Rule: the answer has to be there before the tree is asked for. Once asked, the renderer works on it to the end,
whoever has stopped waiting.

The constants were measured with Chromium 156 on two slow cores: `Accessibility.getFullAXTree` of documents of
1,000 to 20,000 links and paragraphs, from the command to the last byte of the reply, cold. 4,000 links to other
pages 313 ms, 16,000 paragraphs 920 ms; links to fragments without a target: 1,000 233 ms, 2,000 304, 4,000
746, 8,000 2,188, 20,000 16,000; 4,000 of them beside 8,000 paragraphs 1,433 ms. Links to fragments that an id
names, and `href="#"`, cost what other links do.
"""

from __future__ import annotations

from typing import Literal

import attrs

SECONDS_PER_ELEMENT = 80e-6
"""One element with its text: made, serialized, sent, read."""

SECONDS_PER_FRAGMENT_AND_LINK = 36e-9
SECONDS_PER_FRAGMENT_AND_ELEMENT = 15e-9
"""For each link to a fragment that no id names, Chrome goes through the document; links take it longer."""

SECONDS_AT_LEAST = 5e-3

WORST_SHARE = 0.7
"""How much of the time there is the tree may take by the forecast. The rest is for a slower machine."""


@attrs.frozen(kw_only=True)
class Probe:
    """What js/probe.js counted in one document. `fragments` are links whose fragment no id names.

    `computed` says whether elements have Chrome's own computedRole and computedName.
    """

    elements: int
    links: int = 0
    fragments: int = 0
    computed: bool = False


def forecast_ax(probe: Probe) -> float:
    """Return the seconds that `Accessibility.getFullAXTree` of this document would take."""
    others = max(0, probe.elements - probe.links)
    search = probe.links * SECONDS_PER_FRAGMENT_AND_LINK + others * SECONDS_PER_FRAGMENT_AND_ELEMENT
    return SECONDS_AT_LEAST + probe.elements * SECONDS_PER_ELEMENT + probe.fragments * search


def choose(probe: Probe, seconds: float) -> tuple[Literal["ax", "computed", "dom"], str]:
    """Return the source for a document that has `seconds` of time, and the reason in words."""
    if probe.computed:
        return "computed", "the browser tells roles and names inside the page"
    expected = forecast_ax(probe)
    if expected <= seconds * WORST_SHARE:
        return "ax", "the browser does not tell roles and names inside the page"
    why = f"{probe.elements} elements"
    if probe.fragments * SECONDS_PER_FRAGMENT_AND_LINK * probe.links > expected / 2:
        why = f"{probe.fragments} links to fragments"
    return (
        "dom",
        f"{why}: the accessibility tree would take about {expected:.1f} s of the {seconds:.1f} s left",
    )
