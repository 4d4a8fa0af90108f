"""Element references, names by internals, `:state()` and slots: the source `computed` agrees with Chrome's
tree.
"""

from __future__ import annotations

import json
from random import Random

import pytest
from source_lines import lines, request_of

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine._snapshot.sources.computed import read_computed

pytestmark = pytest.mark.chrome

ROLES = ("group", "list", "listitem", "button", "region", "checkbox", "listbox", "option", "combobox", "tab")
LISTS = ("ariaControlsElements", "ariaLabelledByElements", "ariaDescribedByElements")
SCRIPT = """
customElements.get("x-a") || customElements.define("x-a", class extends HTMLElement {
  constructor() { super(); this.internals = this.attachInternals(); }
});
customElements.get("x-slot") || customElements.define("x-slot", class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: "open" }).innerHTML =
      "<section aria-label=Shadow><slot name=a>Fallback <button>Kept</button></slot><x-in><slot></slot></x-in></section>";
  }
});
"""


def random_document(random: Random, kinds: tuple[str, ...]) -> tuple[str, str]:
    """Return a document, and a script that sets references, names and states in it."""
    count = 12
    elements = []
    for number in range(count):
        inside = random.choice(["", "<span>in</span>", f"<button>b{number}</button>"])
        slot = random.choice(["", " slot=a", " slot=none"])
        own = f"<x-a id=e{number}{slot} role={random.choice(ROLES)} tabindex=0>t{number} {inside}</x-a>"
        elements.append(own if random.random() < 0.6 else f"<x-slot>{own}<p>text {number}</p></x-slot>")
    settings = []
    for _ in range(6):
        one, other, third = random.sample(range(count), 3)
        kind = random.choice(kinds)
        holder = f"e{one}" if kind.startswith("aria") else f"e{one}.internals"
        name = kind.removeprefix("internals.")
        if name in LISTS:
            settings.append(f"{holder}.{name} = [e{other}, e{third}]")
        elif name == "ariaActiveDescendantElement":
            settings.append(f"{holder}.{name} = e{other}; e{one}.focus()")
        elif name == "states":
            settings.append(f"{holder}.states.add('checked')")
        else:
            settings.append(f"{holder}.{name} = {json.dumps(random.choice(['One', 'Two', '']))}")
    return "".join(elements), ";".join(settings)


KINDS = {
    "elements": (
        "ariaLabelledByElements",
        "ariaDescribedByElements",
        "ariaControlsElements",
        "ariaActiveDescendantElement",
    ),
    "internals": (
        "internals.ariaLabel",
        "internals.ariaLabelledByElements",
        "internals.ariaDescribedByElements",
        "internals.states",
    ),
}


async def changes_tree(page: cdpengine.Page, seed: int, kinds: tuple[str, ...]) -> bool:
    """Compare the sources before and after. Return whether Chrome's tree shows the change at all."""
    html, script = random_document(Random(seed), kinds)
    await page.set_content(f"<!doctype html><script>{SCRIPT}</script>{html}")
    worlds = IsolatedWorlds()
    trees = []
    for change in (f"{{{script}}}", "0"):
        request = request_of(page, worlds)
        trees.append(lines(await read_ax(request)))
        assert lines(await read_computed(request)) == trees[-1], f"seed {seed}: {script}"
        await page.evaluate(change)
    return trees[0] != trees[1]


@pytest.mark.parametrize("kinds", KINDS)
async def test_references_of_random_documents(page: cdpengine.Page, kinds: str) -> None:
    assert any([await changes_tree(page, seed, KINDS[kinds]) for seed in range(4)])
