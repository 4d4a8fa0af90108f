"""Small parts of a page: its dialogs, and less common operations on elements.

Rule: nothing here changes the document. Overlays are removed again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from operator import attrgetter

import attrs

from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._input.action import ActionOutcome
from cdpengine._input.forms.text_entry import blur
from cdpengine._input.view import BoundingBox, bounding_box, check_color, highlight_node
from cdpengine._page.dialogs import Dialog, DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.running_actions import announced
from cdpengine._page.search.locator import Locator, find_match
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.dom import OuterHTMLReply
from cdpengine.errors import InvisibleError


@not_picklable("a list of the dialogs in it")
@attrs.frozen(eq=False)
class Dialogs:
    """The JavaScript dialogs of a page: `page.dialogs`. They never wait for a person."""

    _core: PageCore

    @property
    def records(self) -> list[Dialog]:
        """The latest dialogs, oldest first, and their answers."""
        return self._core.target.dialogs.records

    def set_policy(self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None) -> None:
        """Set the answers to later dialogs of the page, its frames and its later popups.

        "default" accepts alerts and beforeunload dialogs, and dismisses confirm and prompt. "accept" accepts all,
        with `prompt_text` as the answer to prompts (the default is the prompt's default text). "dismiss" dismisses
        all. "raise" dismisses too, and the action or evaluation during which the dialog opened raises
        DialogOpenedError at its end. If a beforeunload dialog is dismissed, the page stays, and the navigation
        raises NavigationFailedError.

        A function, sync or async, receives the Dialog. It returns a DialogAnswer, a bool, a string for a prompt,
        or None for the default answer. It runs as a task of the engine, for at most 5 s. It cannot query the page,
        because the open dialog blocks the page. If it fails, the default answer is used, `Dialog.failure` contains
        the reason, and the error is logged. Raises InvalidArgumentError.
        """
        self._core.target.use()
        self._core.target.dialogs.set_policy(DialogPolicy.checked(policy, prompt_text))


@not_picklable("data that you read from the elements")
@attrs.frozen(eq=False)
class PageElements:
    """Less common operations on single elements: `page.elements`."""

    _core: PageCore

    async def bounding_box(self, target: ElementTarget, *, timeout: float = 30) -> BoundingBox | None:
        """Return the bounding rectangle of the node in CSS pixels of the page's viewport, or None if it has none.

        Nothing is scrolled: the box of an element further down is below the viewport. Takes frames and transforms
        into account. Raises StaleRefError, NodeNotFoundError.
        """
        async with self._core.action(f"measure {describe_target(target)}", timeout) as budget:
            return await bounding_box(await self._core.find_node(target, budget), self._core.worlds)

    async def outer_html(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the element's current HTML, including its own tag.

        Raises NodeNotFoundError and StaleRefError.
        """
        async with self._core.action(f"outer HTML of {describe_target(target)}", timeout) as budget:
            if isinstance(target, Locator):
                target = await find_match(target, budget.deadline)
            node = self._core.node(target)
            reply = await node.session.request(
                "DOM.getOuterHTML", {"backendNodeId": node.backend_node_id}, OuterHTMLReply
            )
            self._core.node(target)  # raises if the document was replaced meanwhile
            return reply.outer_html

    @announced("blur", attrgetter("_core.target.running"))
    async def blur(self, target: ElementTarget, *, heal: bool = False, timeout: float = 30) -> ActionOutcome:
        """Remove the keyboard focus from the node. The page sees blur, preceded by change if the node was edited.

        Raises StaleRefError, and NotInteractableError for a node that takes the focus again.
        """
        return await self._core.act(f"blur {describe_target(target)}", blur, target, heal, timeout)

    @asynccontextmanager
    async def highlight(
        self, target: ElementTarget, *, color: str = "#6fa8dc", info: bool = True, timeout: float = 30
    ) -> AsyncIterator[None]:
        """Highlight the node during the block: `async with page.elements.highlight("e3"):`.

        Chrome's overlay draws it, so the page is unchanged and cannot detect it. Screenshots of the viewport
        include it; screenshots of a target or of the full page do not. `info` adds a label with name and size.
        `timeout` applies only to the beginning of the block. Raises InvalidArgumentError for a colour that is not
        "#rrggbb", InvisibleError for a node without a box, StaleRefError, NodeNotFoundError.
        """
        rgb = check_color(color)
        async with AsyncExitStack() as stack:
            async with self._core.action(f"highlight {describe_target(target)}", timeout) as budget:
                node = await self._core.find_node(target, budget)
                if await bounding_box(node, self._core.worlds) is None:
                    raise InvisibleError(action="highlight", target=node.description, reason="it has no box")
                await stack.enter_async_context(highlight_node(node, rgb, info=info))
            yield
