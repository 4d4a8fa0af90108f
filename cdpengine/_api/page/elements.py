"""PageElements: reads of single elements, and the less common operations on them.

Rule: a read neither scrolls nor changes the page. The states come from the checks of the actions, so a click and
`is_enabled` never disagree. A read of a Locator waits for a match. The questions `is_visible` and `is_hidden` are
answered immediately.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from operator import attrgetter
from typing import TypeVar

import attrs

from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._api.page.script_arguments import make_script
from cdpengine._checks import check_string, check_type, invalid
from cdpengine._evaluate.script import find_objects
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.library_calls import stale_ref_error
from cdpengine._input.forms.text_entry import blur, select_text
from cdpengine._input.node_content import Content, read_content
from cdpengine._input.node_states import NodeStates, read_checked, read_states
from cdpengine._input.view import BoundingBox, check_color, highlight_node, present_box
from cdpengine._javascript import script
from cdpengine._page.running_actions import announced, announced_read
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.search.locator import finds_again
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.dom import OuterHTMLReply
from cdpengine.errors import NodeNotFoundError, NotInteractableError, StaleRefError

T = TypeVar("T")

_RUNNING = attrgetter("_core.target.running")


@not_picklable("data that you read from the elements")
@attrs.frozen(eq=False)
class PageElements:
    """Reads of single elements, and less common operations on them: `page.elements`."""

    _core: PageCore

    @announced_read("bounding_box", _RUNNING)
    async def bounding_box(self, target: ElementTarget, *, timeout: float = 30) -> BoundingBox | None:
        """Return the bounding rectangle of the node in CSS pixels of the page's viewport, or None if it has none.

        Nothing is scrolled: the box of an element further down is below the viewport. Takes frames and transforms
        into account. Raises StaleRefError, NodeNotFoundError.
        """
        return await self._read("measure", target, partial(present_box, worlds=self._core.worlds), timeout)

    @announced_read("text_content", _RUNNING)
    async def text_content(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the text of the element and its descendants, hidden text included, with its white space.

        Raises StaleRefError, and for a Locator the errors of `page.find` at the end of the timeout.
        """
        return await self._content("text_content", target, timeout) or ""

    @announced_read("inner_text", _RUNNING)
    async def inner_text(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the displayed text of the element (`innerText`), or its text if it is not displayed.

        Raises the errors of `text_content`.
        """
        return await self._content("inner_text", target, timeout) or ""

    @announced_read("inner_html", _RUNNING)
    async def inner_html(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the HTML of the element's children. Raises the errors of `text_content`."""
        return await self._content("inner_html", target, timeout) or ""

    @announced_read("outer_html", _RUNNING)
    async def outer_html(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the element's current HTML, including its own tag. Raises the errors of `text_content`."""

        async def read(node: Node) -> str:
            reply = await node.session.request(
                "DOM.getOuterHTML", {"backendNodeId": node.backend_node_id}, OuterHTMLReply
            )
            if not node.valid():
                raise stale_ref_error(node, node.description, "its document was replaced")
            return reply.outer_html

        return await self._read("read the HTML of", target, read, timeout)

    @announced_read("get_attribute", _RUNNING)
    async def get_attribute(self, target: ElementTarget, name: str, *, timeout: float = 30) -> str | None:
        """Return the value of an attribute, or None if the element does not have it.

        Raises InvalidArgumentError and the errors of `text_content`.
        """
        check_string("name", name, empty=False)
        return await self._content("attribute", target, timeout, name=name)

    @announced_read("input_value", _RUNNING)
    async def input_value(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the current value of an input, a textarea or a select, or of the field of a label.

        Passwords are returned too; recordings withhold them. Raises NotInteractableError for an element without a
        value, and the errors of `text_content`.
        """
        return await self._content("value", target, timeout) or ""

    @announced_read("computed_style", _RUNNING)
    async def computed_style(
        self, target: ElementTarget, name: str, *, pseudo_element: str | None = None, timeout: float = 30
    ) -> str:
        """Return a computed style property of the element, such as "color", or of its `pseudo_element` "::before".

        `name` is "background-color" or "backgroundColor", or a custom property ("--gap"); an unset custom property
        is "". Raises InvalidArgumentError for an unknown property, and the errors of `text_content`.
        """
        check_string("name", name, empty=False)
        if pseudo_element is not None:
            check_string("pseudo_element", pseudo_element, empty=False)
        value = await self._content("style", target, timeout, name=name, pseudo=pseudo_element)
        if value is None:
            raise invalid("name", name, 'a CSS property such as "background-color"')
        return value

    @announced_read("is_visible", _RUNNING)
    async def is_visible(self, target: ElementTarget, *, timeout: float = 30) -> bool:
        """Return whether the element is visible now: displayed, with a size. An element that is gone is not.

        Visible elements can be transparent, covered, or outside of the viewport. Does not wait for a match of a
        Locator. Use `page.wait_for(ref=..., state="visible")` to wait. Raises AmbiguousNodeError.
        """
        states = await self._present_states(target, timeout)
        return states is not None and states.visible

    @announced_read("is_hidden", _RUNNING)
    async def is_hidden(self, target: ElementTarget, *, timeout: float = 30) -> bool:
        """Return whether the element is not visible now: the opposite of `is_visible`."""
        return not await self.is_visible(target, timeout=timeout)

    @announced_read("is_enabled", _RUNNING)
    async def is_enabled(self, target: ElementTarget, *, timeout: float = 30) -> bool:
        """Return whether the element is enabled, as for a click.

        Elements are disabled by `disabled` (their own or a fieldset's), `aria-disabled`, or `inert`, on themselves
        or an ancestor. A label is disabled with its control. Raises the errors of `text_content`.
        """
        return (await self._states(target, timeout)).enabled

    @announced_read("is_disabled", _RUNNING)
    async def is_disabled(self, target: ElementTarget, *, timeout: float = 30) -> bool:
        """Return whether the element is disabled: the opposite of `is_enabled`."""
        return not await self.is_enabled(target, timeout=timeout)

    @announced_read("is_editable", _RUNNING)
    async def is_editable(self, target: ElementTarget, *, timeout: float = 30) -> bool:
        """Return whether `type` can enter text: a text field or editable element, enabled and not read-only.

        Raises the errors of `text_content`.
        """
        return (await self._states(target, timeout)).editable

    @announced_read("is_focused", _RUNNING)
    async def is_focused(self, target: ElementTarget, *, timeout: float = 30) -> bool:
        """Return whether the element, or the field of a label, has the keyboard focus of the page.

        Raises the errors of `text_content`.
        """
        return (await self._states(target, timeout)).focused

    @announced_read("is_checked", _RUNNING)
    async def is_checked(self, target: ElementTarget, *, timeout: float = 30) -> bool:
        """Return whether a checkbox, radio button or switch is checked, native or by its ARIA role.

        A control that is neither checked nor unchecked (indeterminate, "mixed") is not. Raises
        NotInteractableError for any other element, and the errors of `text_content`.
        """

        async def read(node: Node) -> bool:
            kind, checked = await read_checked(node, self._core.worlds)
            if not kind:
                reason = "it is not a checkbox or radio button, and has no such role"
                raise NotInteractableError("read the state of", node.description, reason)
            return checked is True

        return await self._read("read the state of", target, read, timeout)

    @announced("blur", _RUNNING)
    async def blur(self, target: ElementTarget, *, heal: bool = False, timeout: float = 30) -> ActionOutcome:
        """Remove the keyboard focus from the node. The page sees blur, preceded by change if the node was edited.

        Raises StaleRefError, and NotInteractableError for a node that takes the focus again.
        """
        return await self._core.act(f"blur {describe_target(target)}", blur, target, heal, timeout)

    @announced("select_text", _RUNNING)
    async def select_text(
        self, target: ElementTarget, *, heal: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Select the text of a field, which gets the focus, or the content of any other element.

        Waits until the element is visible and enabled. Raises NotInteractableError, StaleRefError and
        NodeNotFoundError.
        """
        return await self._core.act(
            f"select the text of {describe_target(target)}", select_text, target, heal, timeout
        )

    @announced("dispatch_event", _RUNNING)
    async def dispatch_event(
        self,
        target: ElementTarget,
        type: str,  # noqa: A002 - the name of the event's property
        init: Mapping[str, object] | None = None,
        *,
        heal: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Dispatch a synthetic event at the element: `dispatch_event(ref, "click")`. The element may be hidden.

        The event is not trusted, unlike real input by `page.click`. Its class depends on `type` ("keydown" is a
        KeyboardEvent), and `init` has its properties. It bubbles, is cancelable and composed as far as real events
        of the type are. `init` may contain handles, such as a DataTransfer. Runs in the page's main world.

        Raises InvalidArgumentError, EvaluationDisabledError, EvaluationFailedError if the event cannot be made,
        and StaleRefError and NodeNotFoundError.
        """
        check_string("type", type, empty=False)
        if init is not None:
            check_type("init", init, Mapping, "the event's properties as a mapping")

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            source, properties = script("_evaluate/dispatch_event"), dict(init or {})
            made = await make_script(
                self._core, source, [node, type, properties], None, None, "main", context.budget
            )
            await self._core.evaluator.evaluate(made, context.budget)
            return ActionOutcome("dispatch an event at", node.description)

        return await self._core.act(
            f"dispatch {type[:40]} at {describe_target(target)}",
            do,
            target,
            heal,
            timeout,
            repeatable=not find_objects([init]),  # a stale handle in it stays stale
        )

    @asynccontextmanager
    async def highlight(
        self, target: ElementTarget, *, color: str = "#6fa8dc", info: bool = True, timeout: float = 30
    ) -> AsyncIterator[None]:
        """Highlight the node during the block: `async with page.elements.highlight("e3"):`.

        Chrome's overlay draws it, so the page is unchanged and cannot detect it. Screenshots of the viewport
        include it; screenshots of a target or of the full page do not. `info` adds a label with name and size.
        `timeout` applies only to the beginning of the block. Raises InvalidArgumentError for a colour that is not
        "#rrggbb", NotInteractableError for a node without a box, StaleRefError, NodeNotFoundError.
        """
        rgb = check_color(color)
        async with AsyncExitStack() as stack:

            async def begin(node: Node) -> None:
                if await present_box(node, worlds=self._core.worlds) is None:
                    raise NotInteractableError(
                        "highlight", node.description, "it has no box", state="invisible"
                    )
                await stack.enter_async_context(highlight_node(node, rgb, info=info))

            async with self._core.action(f"highlight {describe_target(target)}", timeout) as budget:
                await self._core.on_node(target, budget, begin)
            yield

    # --- one read ----------------------------------------------------------------------------------------------

    async def _content(
        self,
        what: Content,
        target: ElementTarget,
        timeout: float,
        *,
        name: str = "",
        pseudo: str | None = None,
    ) -> str | None:
        read = partial(read_content, what=what, worlds=self._core.worlds, name=name, pseudo=pseudo)
        return await self._read(f"read {what.replace('_', ' ')} of", target, read, timeout)

    async def _states(self, target: ElementTarget, timeout: float) -> NodeStates:
        read = partial(read_states, worlds=self._core.worlds)
        return await self._read("read the state of", target, read, timeout)

    async def _present_states(self, target: ElementTarget, timeout: float) -> NodeStates | None:
        """Return the states of an element that exists now, or None if it does not exist or is gone."""

        async def read(node: Node) -> NodeStates | None:
            try:
                return await read_states(node, self._core.worlds)
            except StaleRefError:
                if finds_again(target):
                    raise  # the page may have replaced the match
                return None

        try:
            return await self._read("read the state of", target, read, timeout, waits=False)
        except NodeNotFoundError:
            if not finds_again(target):
                raise
        except StaleRefError as error:
            if error.became in ("dropped", "foreign"):
                raise
        return None

    async def _read(
        self,
        action: str,
        target: ElementTarget,
        read: Callable[[Node], Awaitable[T]],
        timeout: float,
        *,
        waits: bool = True,
    ) -> T:
        """Read from the target's node. A Locator is found again if its match is replaced before the read."""
        core = self._core
        async with core.action(f"{action} {describe_target(target)}", timeout) as budget:
            return await core.on_node(target, budget, read, waits=waits)
