"""States of every role, set by attributes or `ElementInternals`: the sources `computed` and `dom` agree with
Chrome's tree.
"""

from __future__ import annotations

import json
from random import Random

import pytest
from random_states import ROLES, STATES, attribute, custom_elements, stateful_element, states
from source_lines import lines, request_of

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.roles import ARIA_ROLES
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine._snapshot.sources.computed import read_computed, read_dom

pytestmark = pytest.mark.chrome


async def check_sources(page: cdpengine.Page, worlds: IsolatedWorlds) -> None:
    request = request_of(page, worlds)
    expected = lines(await read_ax(request))
    assert lines(await read_computed(request)) == expected
    assert lines(await read_dom(request)) == expected


async def change(page: cdpengine.Page, random: Random, count: int, *, internals: bool) -> None:
    """Change states of some elements; with `internals`, without a trace in the document."""
    changes = [[number, states(random, 3)] for number in random.sample(range(count), count // 4)]
    holder = "elementOf(number).internals" if internals else "elementOf(number)"
    await page.evaluate(
        "{ for (const [number, states] of " + json.dumps(changes) + f") Object.assign({holder}, states); }}"
    )


async def walk_states(page: cdpengine.Page, seed: int, *, internals: bool) -> None:
    random = Random(seed)
    wanted = [(random.choice(ROLES), states(random)) for _ in range(80)]
    await page.set_content(custom_elements(random, wanted, internals=internals))
    worlds = IsolatedWorlds()
    for _ in range(4):
        await check_sources(page, worlds)
        await change(page, random, len(wanted), internals=internals)
    await check_sources(page, worlds)


@pytest.mark.parametrize("internals", [False, True], ids=["attributes", "internals"])
async def test_states_of_random_elements(page: cdpengine.Page, internals: bool) -> None:
    for seed in range(2):
        await walk_states(page, seed, internals=internals)


@pytest.mark.slow
@pytest.mark.parametrize("state", sorted(STATES))
async def test_each_value_of_a_state_for_each_role(page: cdpengine.Page, state: str) -> None:
    html = "<!doctype html>"
    for focus in ("", " tabindex=0"):
        for value in STATES[state]:
            html += "".join(
                stateful_element(role, f'aria-label=N role={role} {attribute(state)}="{value}"{focus}')
                for role in sorted(ARIA_ROLES)
            )
    await page.set_content(html)
    await check_sources(page, IsolatedWorlds())


async def test_snapshots_follow_the_states_of_custom_elements(page: cdpengine.Page) -> None:
    await page.set_content(
        "<x-a id=box aria-label=Box></x-a><x-a id=all><button>Inside</button></x-a><p id=hint>Hint</p><script>"
        "customElements.define('x-a', class extends HTMLElement { static formAssociated = true;"
        " constructor() { super(); this.i = this.attachInternals(); } });"
        "box.i.role = 'checkbox'; box.i.ariaChecked = 'mixed'; box.tabIndex = 0;</script>"
    )

    async def seen() -> list[str]:
        ax, computed = await page.snapshot(source="ax"), await page.snapshot()
        assert computed.text == ax.text
        return computed.text.splitlines()

    assert (await seen())[:2] == ['- checkbox "Box" [ref=e1] [checked=mixed]', '- button "Inside" [ref=e2]']
    await page.evaluate("{ box.i.ariaChecked = 'true'; all.i.ariaDisabled = 'true'; }")
    assert (await seen())[:2] == [
        '- checkbox "Box" [ref=e1] [checked]',
        '- button "Inside" [ref=e2] [disabled]',
    ]
    await page.evaluate(
        "{ box.i.ariaChecked = 'false'; all.i.ariaDisabled = null; box.setAttribute('disabled', ''); }"
    )
    assert (await seen())[:2] == ['- checkbox "Box" [ref=e1] [disabled]', '- button "Inside" [ref=e2]']
    await page.evaluate(
        "{ box.removeAttribute('disabled'); box.i.setValidity({ customError: true }, 'no');"
        " box.i.ariaDescribedByElements = [hint]; }"
    )
    assert (await seen())[0] == '- checkbox "Box" [ref=e1] [invalid] [description="Hint"]'


async def test_references_given_as_properties(page: cdpengine.Page) -> None:
    await page.set_content(
        "<button id=named>x</button><p id=caption>Name</p><button id=described>Described</button><p>between</p><p id=text>Text</p>"
        "<script>named.ariaLabelledByElements = [caption];"
        "described.ariaDescribedByElements = [text]</script>"
    )
    computed, ax = await page.snapshot(), await page.snapshot(source="ax")
    assert computed.text == ax.text
    assert '[description="Text"]' in computed.text
