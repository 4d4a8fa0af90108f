"""A page that fights the clicks: every reported click happened, and every click that happened is reported.

`--run-slow` tries more clicks.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import trio
from rounds import rounds

import cdpengine
from cdpengine.errors import DeadlineExceededError, EngineError, NotDeliveredError

pytestmark = pytest.mark.chrome

TRIES = rounds(30, 1_000)

WAR = """<!doctype html><style>
  body { margin: 0 } .cover { position: fixed; inset: 0; background: #0004 }
  .target { position: absolute; width: 70px; height: 24px }
</style><body><script>
  counts = [];       // clicks of each target that there ever was, by number
  others = 0;        // clicks on anything else
  presses = 0;       // mousedown on anything but a target
  let seed = SEED;
  const random = (most) => (seed = (seed * 48271) % 2147483647, seed % most);
  function make() {
    const target = document.createElement("button");
    const number = counts.push(0) - 1;
    target.className = "target";
    target.textContent = "Go " + number;
    target.number = number;
    target.style.left = random(600) + "px";
    target.style.top = random(400) + "px";
    target.addEventListener("click", (event) => { if (event.isTrusted) counts[number]++; });
    return target;
  }
  document.addEventListener("click", (event) => { if (!event.target.closest(".target")) others++; }, true);
  document.addEventListener("mousedown", (event) => { if (!event.target.closest(".target")) presses++; }, true);
  current = make();
  document.body.append(current);
  const cover = document.createElement("div");
  cover.className = "cover";
  const deeds = [
    () => { current.style.left = random(600) + "px"; },
    () => { current.style.top = random(400) + "px"; },
    () => { current.style.transform = `translate(${random(90)}px, ${random(60)}px) rotate(${random(40)}deg)`; },
    () => { document.body.append(cover); },
    () => { cover.remove(); },
    () => { cover.remove(); },
    () => { current.disabled = !current.disabled; },
    () => { current.disabled = false; },
    () => { current.remove(); setTimeout(() => current.isConnected || document.body.append(current), random(9)); },
    () => { const next = make(); next.style.cssText = current.style.cssText; current.replaceWith(next);
            if (!next.isConnected) document.body.append(next); current = next; },
    () => { current.hidden = !current.hidden; },
    () => { current.hidden = false; },
    () => { current.style.pointerEvents = random(4) ? "" : "none"; },
    () => { current.animate([{ left: random(600) + "px" }, { left: random(600) + "px" }], 40); },
  ];
  function war() {
    deeds[random(deeds.length)]();
    setTimeout(war, random(18));
  }
  war();
</script>"""


async def current(page: cdpengine.Page) -> tuple[cdpengine.BackendNode, int]:
    """The current target and its number."""
    found = await page.session.call("Runtime.evaluate", expression="current")
    object_id = found["result"]["objectId"]
    described = await page.session.call("DOM.describeNode", objectId=object_id)
    number = await page.session.call(
        "Runtime.callFunctionOn",
        objectId=object_id,
        functionDeclaration="function () { return this.number }",
        returnByValue=True,
    )
    return cdpengine.BackendNode(described["node"]["backendNodeId"]), number["result"]["value"]


async def tally(page: cdpengine.Page) -> dict[str, Any]:
    found = await page.session.call(
        "Runtime.evaluate",
        expression="({counts: [...counts], others, presses})",
        returnByValue=True,
    )
    value: dict[str, Any] = found["result"]["value"]
    return value


@pytest.mark.parametrize("seed", [4711])
async def test_reported_clicks_equal_actual_clicks(page: cdpengine.Page, seed: int) -> None:
    await page.set_content(WAR.replace("SEED", str(seed)))
    ends: Counter[str] = Counter()
    lies: list[str] = []
    for attempt in range(4 * TRIES):  # on a busy machine few clicks find the button in time
        if attempt >= TRIES and ends["delivered"] > TRIES / 20:
            break
        target, number = await current(page)
        before = await tally(page)
        held = True
        try:
            outcome = await page.click(target, timeout=0.12)
        except NotDeliveredError as error:
            held = error.held_back
            end = f"NotDeliveredError, {'held back' if held else 'astray'}"
            wanted: int | None = 0
        except DeadlineExceededError as error:
            # The deadline passed between the input and its report. The error says so, and the click may or
            # may not have happened.
            end, wanted = "DeadlineExceededError", None if "the input was sent" in error.steps else 0
        except EngineError as error:
            end, wanted = type(error).__name__, 0
        else:
            assert outcome.delivered
            end, wanted = "delivered", 1
        ends[end] += 1
        after = await tally(page)
        counts = [new - old for new, old in zip(after["counts"], before["counts"] + [0] * 99, strict=False)]
        allowed = [
            [count if each == number else 0 for each in range(len(counts))]
            for count in ([0, 1] if wanted is None else [wanted])
        ]
        if counts not in allowed:
            lies.append(f"{attempt}: {end}, but the clicks were {[n for n in enumerate(counts) if n[1]]}")
        if held and (after["others"], after["presses"]) != (before["others"], before["presses"]):
            lies.append(f"{attempt}: {end}, but something else was clicked or pressed")
    print(dict(ends))
    assert lies == []
    assert ends["delivered"] > TRIES / 20, "the page could not be clicked at all: nothing was tested"
    assert sum(ends.values()) - ends["delivered"] > TRIES / 20, (
        "nothing covered the button: nothing was tested"
    )
    assert page.mouse.buttons == 0
    with trio.fail_after(20):
        # No observer is left.
        names = "Object.keys(document).filter((name) => name.startsWith('cdpengine'))"
        assert await page.evaluate(names, world="isolated") == []
