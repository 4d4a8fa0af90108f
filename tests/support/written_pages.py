"""Hand-written pages for tests of finding: describe an element in one page, search for it in the next."""

from __future__ import annotations

import random

from changing_pages import ChangingPage, El

from cdpengine.cache import Target, Values, describe_target
from cdpengine.cache.matching.finding import TargetMatch, find_target

NOTHING = Values({})


class Page(ChangingPage):
    """A hand-written page: `page("form Log in", page("textbox User"))`."""

    def __init__(self) -> None:
        super().__init__(random.Random(0))

    def __call__(self, what: str, *children: El, url: str = "") -> El:
        role, _, name = what.partition(" ")
        return self.el(role, name, *children, url=url)

    def show(self, *children: El) -> Page:
        self.root.children = list(children)
        return self


def described(page: ChangingPage, el: El) -> Target:
    return describe_target(page.snapshot(), f"e{el.number}")


def found(page: ChangingPage, target: Target, values: Values = NOTHING) -> TargetMatch:
    return find_target(page.snapshot(), target, values)
