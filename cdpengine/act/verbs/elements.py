"""Verbs that read one fact about an element or the page: get and is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine.act.fields import field
from cdpengine.act.notations import MAYBE_TARGET, TARGET, CommandForm, Place, ToolForm
from cdpengine.act.requests import ActRequest, check_element
from cdpengine.act.response import describe_url
from cdpengine.act.selectors import parse_selector
from cdpengine.errors import InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance
    from cdpengine.actions import ElementTarget

GetWhat = Literal["text", "html", "value", "attribute", "style", "box", "count", "title", "url"]
State = Literal["visible", "enabled", "editable", "checked", "focused"]

_OF_THE_PAGE = frozenset({"title", "url"})
_NAMED = frozenset({"attribute", "style"})


@attrs.frozen(kw_only=True)
class Get(ActRequest):
    """Read one fact about an element or the page, without a snapshot."""

    kind = "get"
    in_order = False
    tool = ToolForm(
        meaning="Read one fact about an element, or the page's title or URL.",
        fields=("ref", "selector", "name"),
        capability="more",
    )
    commands = (
        CommandForm(
            meaning=(
                "Print a fact: text, html, value, attribute NAME, style NAME, box or count of TARGET; the page's "
                "title or url."
            ),
            places=(Place("WHAT", "what"), MAYBE_TARGET, Place("NAME", "name", needed=False)),
            example="get attribute e3 href",
            console=False,
        ),
    )

    what: GetWhat = field(
        "The fact: text is displayed text, html includes the element's tag, box is in CSS pixels of the viewport, "
        "count is the number of matches."
    )
    ref: str | None = field("The element, by its ref.", None)
    selector: str | None = field("The element, by CSS, or a criterion such as text=Save.", None)
    name: str | None = field('The attribute or CSS property: "href", "color".', None)

    def check(self) -> None:
        """Raise InvalidArgumentError for a missing or superfluous element or name."""
        check_element(self, self.kind, needed=self.what not in _OF_THE_PAGE)
        if self.what in _OF_THE_PAGE and not (self.ref is None and self.selector is None):
            raise InvalidArgumentError("get", f"{self.what} and an element", "no element")
        if (self.name is not None) is not (self.what in _NAMED):
            given = "nothing" if self.name is None else f"a name for {self.what}"
            expected = f"the name of the {self.what}" if self.name is None else "none"
            raise InvalidArgumentError("get.name", given, expected)
        if self.what == "count" and self.ref is not None:
            raise InvalidArgumentError("get", "count and a ref, which means one element", "a selector")

    async def run(self, performance: Performance) -> Any:
        page, left = performance.page, performance.left
        match self.what:
            case "title":
                return await page.title(timeout=left)
            case "url":
                return describe_url(page.url)
            case "count":
                return await page.locate(**_criteria(self.selector or "")).count(timeout=left)
        target = await performance.find(self.ref, self.selector)
        elements, left = page.elements, performance.left
        match self.what:
            case "text":
                return await elements.inner_text(target, timeout=left)
            case "html":
                return await elements.outer_html(target, timeout=left)
            case "value":
                return await elements.input_value(target, timeout=left)
            case "attribute":
                return await elements.get_attribute(target, self.name or "", timeout=left)
            case "style":
                return await elements.computed_style(target, self.name or "", timeout=left)
        box = await elements.bounding_box(target, timeout=left)
        return None if box is None else attrs.asdict(box)

    @staticmethod
    def text_lines(result: Any) -> Iterable[str] | None:
        return ["null"] if result is None else None


@attrs.frozen(kw_only=True)
class Is(ActRequest):
    """Return whether an element is visible, enabled, editable, checked or focused now."""

    kind = "is"
    in_order = False
    tool = ToolForm(
        meaning="Whether an element has a state now.", fields=("ref", "selector"), capability="more"
    )
    commands = (
        CommandForm(
            meaning="Print true or false: whether an element is visible, enabled, editable, checked or focused.",
            places=(Place("STATE", "state"), TARGET),
            example="is visible '#done'",
            console=False,
        ),
    )

    state: State = field("An element that does not exist is not visible; the other states need an element.")
    ref: str | None = field("The element, by its ref.", None)
    selector: str | None = field("The element, by CSS, or a criterion such as text=Save.", None)

    def check(self) -> None:
        """Raise InvalidArgumentError unless the request has one element."""
        check_element(self, self.kind)

    async def run(self, performance: Performance) -> bool:
        elements = performance.page.elements
        if self.state == "visible":
            target: ElementTarget = self.ref or performance.page.locate(**_criteria(self.selector or ""))
            return await elements.is_visible(target, timeout=performance.left)
        target = await performance.find(self.ref, self.selector)
        read = {
            "enabled": elements.is_enabled,
            "editable": elements.is_editable,
            "checked": elements.is_checked,
            "focused": elements.is_focused,
        }[self.state]
        return await read(target, timeout=performance.left)


def _criteria(selector: str) -> Any:
    """Return the arguments of `page.locate` for a selector."""
    return parse_selector(selector) or {"css": selector}
