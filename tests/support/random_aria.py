"""Random documents with every role and ARIA state, custom elements, slots, references and `aria-owns`. Pure."""

from __future__ import annotations

import json
from random import Random

from random_states import attribute, states

from cdpengine._snapshot.roles import ARIA_ROLES

_TAGS = (
    "div", "div", "div", "span", "span", "li", "p", "section", "ul", "h2", "button", "a href=https://example.com/",
    "input", "input type=checkbox", "input type=number", "select", "textarea", "fieldset", "label", "form",
)  # fmt: skip
_CUSTOM = ("x-plain", "x-plain", "x-slots", "x-bare", "x-inside")
_EMPTY = ("input", "select", "textarea")
_HIDING = ("hidden", "aria-hidden=true", "style=visibility:hidden", "style=display:contents", "inert")
_SLOTS = ("", "", "", " slot=a", " slot=none")
_LISTS = ("ariaControlsElements", "ariaLabelledByElements", "ariaDescribedByElements")
_NAMES = ("One", "Two words", "")

# `x-slots` shows its content in slots, `x-bare` shows none of it, `x-inside` has more custom elements inside.
_DEFINITIONS = """<script>
for (const [name, shadow] of [
  ["x-plain", ""],
  ["x-slots", "<section aria-label=Shadow><slot name=a>Fallback <button>Kept</button></slot><x-wrap><slot></slot></x-wrap></section>"],
  ["x-bare", "<b>bare</b>"],
  ["x-inside", "<slot></slot><x-plain class=inner tabindex=0>inner</x-plain>"],
]) {
  if (customElements.get(name)) continue;
  customElements.define(name, class extends HTMLElement {
    constructor() {
      super();
      this.internals = this.attachInternals();
      if (shadow) this.attachShadow({ mode: "open" }).innerHTML = shadow;
    }
  });
}
</script>"""


class _Document:
    def __init__(self, random: Random, count: int, owners: float, hiding: float) -> None:
        self.random = random
        self.count = count
        self.owners = owners
        self.hiding = hiding
        self.made = 0
        self.customs: list[int] = []

    def some(self) -> str:
        return f"e{self.random.randrange(self.count)}"

    def attributes(self, tag: str) -> str:
        """Return random attributes: role, states, names, hiding, references."""
        random = self.random
        given = []
        if random.random() < 0.6:
            given.append(f"role={random.choice(sorted(ARIA_ROLES))}")
        if random.random() < 0.5:
            given += [f'{attribute(state)}="{value}"' for state, value in states(random, 3).items()]
        if random.random() < 0.15:
            given.append(f'aria-label="{random.choice(_NAMES)}"')
        if random.random() < 0.1:
            given.append(f"aria-labelledby={self.some()}")
        if random.random() < 0.1:
            given.append(f"aria-describedby={self.some()}")
        if random.random() < 0.1:
            given.append(f'title="{random.choice(_NAMES)}"')
        if random.random() < 0.4:
            given.append(f"tabindex={random.choice((0, 0, -1))}")
        if random.random() < self.hiding:
            given.append(random.choice(_HIDING))
        if random.random() < self.owners:
            owned = {self.some(): None for _ in range(random.choice((1, 1, 2, 3)))}
            given.append(f"aria-owns='{' '.join(owned)}'")
        if tag == "li" and random.random() < 0.2:
            given.append("value=3")
        return "".join(f" {each}" for each in given)

    def element(self, depth: int) -> str:
        random = self.random
        number = self.made
        self.made += 1
        tag = random.choice(_CUSTOM if random.random() < 0.35 else _TAGS)
        name = tag.split()[0]
        if name in ("x-plain", "x-slots", "x-bare", "x-inside"):
            self.customs.append(number)
        start = f"<{tag} id=e{number}{random.choice(_SLOTS)}{self.attributes(name)}>"
        if name == "input":
            return start
        if name in _EMPTY:
            inside = "<option>a</option><option selected>b</option>" if name == "select" else f"t{number}"
            return f"{start}{inside}</{name}>"
        inside = random.choice((f"t{number}", f"t{number} <span>in</span>", f"<b>t{number}</b>", ""))
        if depth < 4:
            inside += self.elements(depth + 1, random.choice((0, 0, 1, 1, 2)))
        return f"{start}{inside}</{name}>"

    def elements(self, depth: int, most: int) -> str:
        found = ""
        for _ in range(most):
            if self.made < self.count:
                found += self.element(depth)
        return found

    def settings(self) -> str:
        """Return a script that sets internals and element references."""
        random = self.random
        done = []
        for number in self.customs:
            if random.random() < 0.7:
                given = states(random, 3) if random.random() < 0.7 else {}
                if random.random() < 0.6:
                    given["role"] = random.choice(sorted(ARIA_ROLES))
                if random.random() < 0.3:
                    given["ariaLabel"] = random.choice(_NAMES)
                if random.random() < self.hiding:
                    given["ariaHidden"] = random.choice(("true", "false"))
                done.append(f"Object.assign(at('e{number}').internals, {json.dumps(given)})")
            if random.random() < 0.2:
                done.append(f"at('e{number}').internals.{random.choice(_LISTS)} = [at('{self.some()}')]")
        done += [
            f"at('{self.some()}').{random.choice(_LISTS)} = [at('{self.some()}'), at('{self.some()}')]"
            for _ in range(random.randrange(4))
        ]
        if random.random() < 0.3:
            done.append(f"at('{self.some()}').ariaActiveDescendantElement = at('{self.some()}')")
        return ";\n".join(done)


def aria_document(random: Random, *, owners: float = 0.0, hiding: float = 0.06, count: int = 14) -> str:
    """Return a document of `count` elements.

    `owners` is the share of elements with `aria-owns`, `hiding` the share of those that are hidden or hide
    themselves.
    """
    made = _Document(random, count, owners, hiding)
    body = ""
    while made.made < count:
        body += made.element(0)
    return (
        f"<!doctype html>{_DEFINITIONS}{body}<script>{{\nconst at = (id) => document.getElementById(id);\n"
        f"{made.settings()};\n}}</script>"
    )
