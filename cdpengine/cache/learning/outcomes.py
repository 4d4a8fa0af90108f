"""Outcomes: the effects of steps, found by comparing the page before and after each step. Pure.

Rule: a condition must be visible and must recur when the step is replayed. Candidates are the new address,
and a named element or a short string that appeared or disappeared. Strings with digits (counts, times,
prices) do not qualify. Entered strings do not qualify either, unless they are values of variables and
become templates. Many simultaneous changes of one kind are page content and yield no condition. Without a
usable change, the step has no condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from urllib.parse import unquote_plus

import attrs

from cdpengine._snapshot.snapshot import Snapshot, SnapshotNode
from cdpengine.act.requests import LoadStateName
from cdpengine.cache.addresses import UrlPattern
from cdpengine.cache.changes import read_features
from cdpengine.cache.entries import FramePlace, Landmark, PostCondition, Target
from cdpengine.cache.learning.templating import Templating
from cdpengine.cache.targets import describe_target
from cdpengine.cache.templates import escape

LONGEST_TEXT = 80
"""Maximum length of a condition's string, in characters."""

MOST_ALIKE = 2
"""Maximum number of new links or strings. With more, none of them becomes a condition."""

_ROLES = (
    "alertdialog", "dialog", "alert", "status", "heading", "tabpanel", "region", "form", "menu", "listbox", "tab",
    "menuitem", "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "link",
)  # fmt: skip
"""Roles that can serve as a condition, most reliable first."""

_AFTER_ENTERING = frozenset({"alertdialog", "dialog", "alert", "menu", "listbox"})
"""Roles that can serve as a condition after input. Other new elements depend on the input."""

_MESSAGES = frozenset({"alert", "status"})


@attrs.frozen(kw_only=True)
class PageView:
    """The page at one moment.

    `document` is Chrome's loader id. `loaded`: whether the document has fired its load event.
    """

    snapshot: Snapshot | None = attrs.field(repr=False)
    url: str = attrs.field(repr=False)
    document: str
    loaded: bool

    @property
    def reading(self) -> Reading | None:
        """The snapshot that a caller reads before a step on this page. None if the page was not read."""
        if self.snapshot is None:
            return None
        features = read_features(self.snapshot)
        return Reading((self.document, features.structure, features.content), self.snapshot.stats.tokens)


@attrs.frozen
class Reading:
    """A snapshot that a caller reads: its token count, and its identity among other snapshots."""

    page: tuple[str, str, str]
    tokens: int


def count_tokens(readings: Iterable[Reading | None]) -> int:
    """Return the total tokens of the steps' snapshots. Consecutive steps on one page share a snapshot."""
    known = [each for each in readings if each is not None]
    return sum(
        each.tokens for place, each in enumerate(known) if place == 0 or known[place - 1].page != each.page
    )


def find_condition(
    before: PageView,
    after: PageView,
    templating: Templating,
    *,
    entering: bool = False,
    entered: Collection[str] = (),
) -> PostCondition | None:
    """Return the condition that a step established, or None without a usable change.

    entering: whether the step entered a value. entered: entered strings that are not values of variables.
    """

    def is_safe(text: str) -> bool:
        folded = text.casefold()
        return not any(each.casefold() in folded for each in entered if each.strip())

    other_document = before.document != after.document
    url: str | None = None
    load_state: LoadStateName | None = "load" if other_document and after.loaded else None
    if other_document or before.url != after.url:
        url = templating.pattern(after.url)
        if url is not None and not is_safe(unquote_plus(url)):
            url = None
    shown: PostCondition | None = None
    if url is None or UrlPattern(url).matches(before.url):
        shown = _find_change(before, after, templating, is_safe, entering=entering)
    if url is None and load_state is None:
        return shown
    return attrs.evolve(shown or PostCondition(), url=url, load_state=load_state)


def clean_target(target: Target, templating: Templating) -> Target:
    """Return the target without the values of variables. Only its name and item may become templates."""

    def keep(landmark: Landmark | None) -> Landmark | None:
        return None if landmark is None or templating.holds_value(landmark.name) else landmark

    def place(frame: FramePlace) -> FramePlace:
        name = "" if templating.holds_value(frame.name) else frame.name
        return attrs.evolve(
            frame, name=name, address="" if templating.holds_value(frame.address) else frame.address
        )

    return attrs.evolve(
        target,
        name=templating.unescaped(target.name) or "",
        item=templating.unescaped(target.item) or "",
        frames=tuple(map(place, target.frames)),
        within=tuple(each for each in target.within if keep(each) is not None),
        together=tuple(each for each in target.together if keep(each) is not None),
        before=keep(target.before),
        after=keep(target.after),
    )


def _find_change(
    before: PageView,
    after: PageView,
    templating: Templating,
    is_safe: Callable[[str], bool],
    *,
    entering: bool,
) -> PostCondition | None:
    if before.snapshot is None or after.snapshot is None or before.snapshot.gaps or after.snapshot.gaps:
        return None

    def usable(text: str) -> str | None:
        """Return the template of a string, or None if the string cannot be a condition."""
        if not 2 <= len(text) <= LONGEST_TEXT or any(each.isdigit() for each in text) or not is_safe(text):
            return None
        template = templating.shown(text)
        if template is None or not any(each.isalpha() for each in text):
            return None
        return template if template != escape(text) or not templating.holds_value(text) else None

    came = _new_elements(before.snapshot, after.snapshot, usable, entering=entering)
    if came is not None:
        return PostCondition(shown=clean_target(came, templating))
    if (text := _new_text(before.snapshot, after.snapshot, usable, entering=entering)) is not None:
        return PostCondition(text=text)
    if entering:
        return None
    went = _new_elements(after.snapshot, before.snapshot, usable, entering=False)
    if went is not None:
        return PostCondition(gone=clean_target(went, templating))
    if (text := _new_text(after.snapshot, before.snapshot, usable, entering=False)) is not None:
        return PostCondition(text_gone=text)
    return None


def _new_elements(
    before: Snapshot, after: Snapshot, usable: Callable[[str], str | None], *, entering: bool
) -> Target | None:
    """Return the most reliable element that only `after` contains, or None."""
    known = {(node.role, node.name) for node in before.nodes}
    there = Counter((node.role, node.name) for node in after.nodes)
    new = [
        node
        for node in after.nodes
        if node.ref is not None
        and node.role in _ROLES
        and (node.role in _AFTER_ENTERING or not entering)
        and (node.role, node.name) not in known
        and there[node.role, node.name] == 1
        and usable(node.name) is not None
    ]
    links = sum(node.role == "link" for node in new)
    candidates = [node for node in new if node.role != "link" or links <= MOST_ALIKE]
    if not candidates:
        return None
    best = min(candidates, key=lambda node: _ROLES.index(node.role))
    assert best.ref is not None
    return describe_target(after, best.ref.id)


def _new_text(
    before: Snapshot, after: Snapshot, usable: Callable[[str], str | None], *, entering: bool
) -> str | None:
    """Return a short string that only `after` contains, or None.

    Status messages come first. Other strings qualify only if at most `MOST_ALIKE` of them are new.
    """
    known = set(_texts(before))
    new: list[tuple[bool, str]] = []
    for node, text in _said(after):
        if text and text not in known and (is_message := _is_message(after, node), text) not in new:
            new.append((is_message, text))
    messages = [text for is_message, text in new if is_message]
    others = [text for is_message, text in new if not is_message]
    for text in messages + ([] if entering or len(others) > MOST_ALIKE else others):
        if (template := usable(text)) is not None:
            return template
    return None


def _said(snapshot: Snapshot) -> Iterator[tuple[SnapshotNode, str]]:
    for node in snapshot.nodes:
        if node.role in ("textbox", "searchbox", "combobox", "option"):
            continue  # the content is user input or an option
        if text := " ".join(node.text.split()):
            yield node, text


def _texts(snapshot: Snapshot) -> Iterator[str]:
    for node in snapshot.nodes:
        yield " ".join(node.text.split())
        yield node.name


def _is_message(snapshot: Snapshot, node: SnapshotNode) -> bool:
    nodes, each = snapshot.nodes, node
    while each.role not in _MESSAGES:
        if each.parent is None:
            return False
        each = nodes[each.parent]
    return True
