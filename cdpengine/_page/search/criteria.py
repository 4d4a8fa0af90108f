"""Criteria of a search for nodes: CSS, visible text, labels and attributes, role and accessible name.

Rule: invalid criteria are refused before anything is sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import attrs

from cdpengine._checks import check_string
from cdpengine._page.patterns import Words, check_words, describe_words
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.selectors import is_name

_LABELLED = frozenset({"radio", "checkbox", "switch", "button"})
"""Roles of controls that pages hide behind their labels."""


ATTRIBUTES = ("label", "placeholder", "alt_text", "title")
"""Criteria on the label and on attributes of an element."""


@attrs.frozen
class Criteria:
    """Search criteria, all of which must match. White space in strings is collapsed.

    `label`, `placeholder`, `alt_text` and `title` contain the string in any case, or are searched for a pattern.
    `test_id` is the whole value of data-testid.

    `roles` maps Chrome's roles for `role` to a selector of all candidates, or None. The engine does not query
    roles without candidates, which saves 20 us for each node of the document. `unnamed` selects visible elements
    of the role that Chrome omits because they have no name. `called` returns the displayed name of a Chrome role.
    `unhidden` returns a function's source that finds visible elements under `aria-hidden` by role. `under_hidden`
    searches there instead of in Chrome's tree. `hiders` are the known hiding custom elements (see hiding.py). With
    `exact`, case matters, and a string must equal the whole text, label or attribute.
    """

    css: str | None = None
    role: str | None = None
    name: Words | None = None
    text: Words | None = None
    label: Words | None = None
    placeholder: Words | None = None
    alt_text: Words | None = None
    title: Words | None = None
    test_id: str | None = None
    exact: bool = False
    roles: Mapping[str, str | None] = attrs.field(factory=dict, eq=False)
    unnamed: str | None = None
    called: Callable[[str], str] = attrs.field(default=str, eq=False, repr=False)
    unhidden: Callable[[], str] | None = attrs.field(default=None, eq=False, repr=False)
    under_hidden: bool = False
    hiders: dict[str, dict[int, bool]] = attrs.field(factory=dict, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for what in ("css", "role", "test_id"):
            if (value := getattr(self, what)) is not None:
                check_string(what, value, empty=False)
        check_words("name", self.name, empty=True)
        for what in ("text", *ATTRIBUTES):
            check_words(what, getattr(self, what))
        if not self._given:
            raise InvalidArgumentError(
                what="find", given="nothing", expected="css, role, name, text or another criterion"
            )

    @property
    def _given(self) -> list[str]:
        """The names of the criteria that are not None."""
        names = ("css", "role", "name", "text", *ATTRIBUTES, "test_id")
        return [name for name in names if getattr(self, name) is not None]

    @property
    def in_page(self) -> bool:
        """Whether the page's own script can restrict the search before Chrome's accessibility tree does."""
        return bool({"css", *ATTRIBUTES, "test_id"}.intersection(self._given)) or (
            self.text is not None and not self.by_role
        )

    @property
    def patterns(self) -> dict[str, re.Pattern[str]]:
        """The compiled patterns among the criteria that the page's script evaluates, by name."""
        words = {name: getattr(self, name) for name in ("text", *ATTRIBUTES)}
        return {name: each for name, each in words.items() if isinstance(each, re.Pattern)}

    def request(self) -> dict[str, object]:
        """Return the criteria that the page's script evaluates, in the form of matching.js, without patterns."""
        names = ("css", "text", *ATTRIBUTES, "test_id")
        words = {name: getattr(self, name) for name in names}
        return {
            "kind": "leaf",
            **{name: each for name, each in words.items() if isinstance(each, str)},
            "exact": self.exact,
        }

    @property
    def is_name(self) -> bool:
        """Whether `css` is probably a name. A wait for an element that matches it would never end."""
        return self.css is not None and is_name(self.css)

    @property
    def by_role(self) -> bool:
        """Whether the search uses Chrome's accessibility tree."""
        return self.role is not None or self.name is not None

    @property
    def may_be_labelled(self) -> bool:
        """Whether the element may be a control hidden behind its label."""
        return self.role is None or not _LABELLED.isdisjoint(self.roles)

    def __str__(self) -> str:
        name = self.name.pattern if isinstance(self.name, re.Pattern) else self.name
        parts = [self.role or ("a node" if self.name is not None else "")]
        parts += [f'"{name[:80]}"'] if name is not None else []
        parts += [f"css {self.css[:80]!r}"] if self.css is not None else []
        with_text = "with exactly the text" if self.exact else "with the text"
        parts += [f"{with_text} {describe_words(self.text)}"] if self.text is not None else []
        for what in (*ATTRIBUTES, "test_id"):
            if (words := getattr(self, what)) is not None:
                parts.append(f"{what.replace('_', ' ')} {describe_words(words)}")
        return " ".join(part for part in parts if part)
