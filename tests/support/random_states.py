"""Random elements with roles and ARIA states from attributes or `ElementInternals`. Pure."""

from __future__ import annotations

import json
from random import Random

ROLES = (
    "button", "checkbox", "columnheader", "combobox", "dialog", "grid", "gridcell", "group", "heading", "link", "listbox",
    "menuitem", "menuitemcheckbox", "menuitemradio", "meter", "option", "progressbar", "radio", "radiogroup", "region",
    "row", "scrollbar", "searchbox", "separator", "slider", "spinbutton", "switch", "tab", "textbox", "tree", "treegrid",
    "treeitem",
)  # fmt: skip
_FLAGS = ("true", "false")
STATES = {
    "ariaBusy": _FLAGS,
    "ariaChecked": (*_FLAGS, "mixed"),
    "ariaDescription": ("more", "less"),
    "ariaDisabled": _FLAGS,
    "ariaExpanded": _FLAGS,
    "ariaHasPopup": (*_FLAGS, "menu", "listbox", "dialog"),
    "ariaInvalid": (*_FLAGS, "grammar", "spelling", "other"),
    "ariaLevel": ("1", "3"),
    "ariaModal": _FLAGS,
    "ariaMultiSelectable": _FLAGS,
    "ariaPlaceholder": ("hint",),
    "ariaPressed": (*_FLAGS, "mixed"),
    "ariaReadOnly": _FLAGS,
    "ariaRequired": _FLAGS,
    "ariaSelected": _FLAGS,
    "ariaValueMax": ("9", "20.5"),
    "ariaValueMin": ("1", "-3"),
    "ariaValueNow": ("4", "7", "40", "-8", "x"),
    "ariaValueText": ("half", "much"),
}
"""State properties of `ElementInternals` and elements, with the values of each."""


def attribute(state: str) -> str:
    """Return the attribute that a property reflects."""
    return "aria-" + state.removeprefix("aria").lower()


def states(random: Random, most: int = 5) -> dict[str, str]:
    """Return a random choice of states."""
    chosen = random.sample(sorted(STATES), random.randint(1, most))
    return {state: random.choice(STATES[state]) for state in chosen}


_HOLDERS = {
    "option": "<div role=listbox>{}</div>",
    "treeitem": "<div role=tree>{}</div>",
    "menuitem": "<div role=menu>{}</div>",
    "menuitemcheckbox": "<div role=menu>{}</div>",
    "menuitemradio": "<div role=menu>{}</div>",
    "tab": "<div role=tablist>{}</div>",
    "row": "<div role=grid>{}</div>",
    "rowgroup": "<div role=grid>{}</div>",
    "listitem": "<div role=list>{}</div>",
    "cell": "<div role=table><div role=row>{}</div></div>",
    "gridcell": "<div role=grid><div role=row>{}</div></div>",
    "columnheader": "<div role=grid><div role=row>{}</div></div>",
    "rowheader": "<div role=grid><div role=row>{}</div></div>",
}


def stateful_element(role: str, attributes: str, tag: str = "div") -> str:
    """Return an element inside the parents that its role requires."""
    return _HOLDERS.get(role, "{}").format(f"<{tag} {attributes}></{tag}>")


def custom_elements(random: Random, wanted: list[tuple[str, dict[str, str]]], *, internals: bool) -> str:
    """Return a document with an element for each role and its states, some in shadow trees, slots and one
    another.

    With `internals` they are custom elements that get roles and states from `ElementInternals`. `elementOf`
    returns the element of a number.
    """
    html, made = "<!doctype html>", []
    for number, (role, given) in enumerate(wanted):
        attributes = f"data-n={number} aria-label=N{number}" + random.choice(["", " tabindex=0"])
        tag = "x-states" if internals else "div"
        if not internals:
            attributes += f" role={role}" + "".join(f' {attribute(key)}="{given[key]}"' for key in given)
        made.append([role, given])
        element = stateful_element(role, attributes, tag)
        place = random.random()
        if place < 0.1:
            element = f"<div><template shadowrootmode=open><b>in</b><slot></slot></template>{element}</div>"
        elif place < 0.2:
            element = f"<div><template shadowrootmode=open><p>{element}</p></template></div>"
        elif place < 0.3 and internals:
            element = f"<x-states>{element}<button>In {number}</button></x-states>"
        html += element
    return (
        html
        + """<script>
customElements.define("x-states", class extends HTMLElement {
  constructor() { super(); this.internals = this.attachInternals(); }
});
const numbered = new Map();
function find(root) {
  for (const each of root.querySelectorAll("*")) {
    if (each.dataset.n) numbered.set(Number(each.dataset.n), each);
    if (each.shadowRoot) find(each.shadowRoot);
  }
}
find(document);
const elementOf = (number) => numbered.get(number);
"""
        + (
            f"{json.dumps(made)}.forEach(([role, states], number) =>"
            " Object.assign(elementOf(number).internals, { role, ...states }));"
            if internals
            else ""
        )
        + "</script>"
    )
