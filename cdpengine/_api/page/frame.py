"""Frame, a frame of a page with methods of its own, and PageFrames, the Page methods about frames.

Rule: a page has one Frame for each of its frames, as long as the frame lives. A method of a frame is the page's
method with `frame=`, so both have one implementation.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import attrs

from cdpengine._api.page.core import ElementTarget, describe_target
from cdpengine._api.page.frame_targets import find_owned_frame
from cdpengine._api.page.locators import PageLocating
from cdpengine._api.page.navigating import Navigation, follow_documents
from cdpengine._api.page.reading import CONTENT, TITLE
from cdpengine._api.page.tags import PageScripts
from cdpengine._api.scopes.awaitable_scope import SettingScope
from cdpengine._javascript import script
from cdpengine._page.frame_views import FrameView
from cdpengine._page.frames import Frame as FrameState
from cdpengine._page.frames import LoadState
from cdpengine._page.navigation.frame_navigation import go_to_in_frame
from cdpengine._page.navigation.navigation import check_url, check_wait_until, go_to
from cdpengine._page.search.locator import FoundNode
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.dom import FrameOwnerReply
from cdpengine._urls.patterns import join_url
from cdpengine._urls.reading import read_url
from cdpengine.errors import InvalidStateError, NodeNotFoundError, RemoteError, shown_url
from cdpengine.errors.misuse import name_ours
from cdpengine.errors.other_libraries import FRAME

T = TypeVar("T")
P = ParamSpec("P")


def in_frame(
    method: Callable[Concatenate[PageLocating, P], T],
) -> Callable[Concatenate[Frame, P], T]:
    """Return the method of a frame that calls a page's method with `frame=`."""

    @functools.wraps(method)
    def call(frame: Frame, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return method(frame.page, *args, **{"frame": frame, **_unframed(kwargs)})

    return _without_frame(call)


def add_in_frame(
    method: Callable[Concatenate[PageScripts, P], T],
) -> Callable[Concatenate[Frame, P], T]:
    """Return the method of a frame that calls a method of `page.scripts` with `frame=`."""

    @functools.wraps(method)
    def call(frame: Frame, /, *args: P.args, **kwargs: P.kwargs) -> T:
        core = frame.page.internals
        scripts = PageScripts(SettingScope.of_page(core), core)
        return method(scripts, *args, **{"frame": frame, **_unframed(kwargs)})

    return _without_frame(call)


def _unframed(kwargs: dict[str, Any]) -> dict[str, Any]:
    if "frame" in kwargs:
        raise TypeError("a method of a frame has no argument 'frame'. Use the page's method")
    return kwargs


def _without_frame(call: Callable[P, T]) -> Callable[P, T]:
    """Set the displayed signature of a wrapper: the page's method without `frame`."""
    signature = inspect.signature(call)
    rest = [each for name, each in signature.parameters.items() if name != "frame"]
    call.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
    return call


@not_picklable("its `url` and `name`")
@attrs.define(eq=False, repr=False)
class Frame(FrameView):
    """A frame of a page, the main one included. Get it from `page.frames`, or from `page.content_frame(element)`.

    It stays the same object when it navigates, also to another process. `page` is its page. A method on a frame
    that has left the page raises NodeNotFoundError.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(FRAME)

    page: PageLocating

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<Frame{name} {shown_url(self.url)[:80]!r}{' detached' * (not self.attached)}>"

    @property
    def parent(self) -> Frame | None:
        """The frame around it, or None for the main frame and for a frame that has left the page."""
        found = self.page.internals.target.frames.get(self.parent_id) if self.parent_id else None
        return None if found is None else view_of(self.page, found)

    @property
    def children(self) -> list[Frame]:
        """The frames directly inside of it."""
        inside = self.page.internals.target.frames.children(self.id)
        return [view_of(self.page, each) for each in inside]

    async def goto(
        self, url: str, *, referer: str | None = None, wait_until: LoadState = "load", timeout: float = 30
    ) -> Navigation:
        """Navigate the frame to `url`, and wait for its document as `page.goto` does.

        Raises NavigationFailedError with Chrome's reason, also if the document refuses to be in a frame, and
        NodeNotFoundError if the frame leaves the page. On DeadlineExceededError all loads of the page have been
        stopped.
        """
        core = self.page.internals
        whole = check_url(join_url(core.base_url, url))
        if referer is not None:
            read_url(referer, "referer")
        state = check_wait_until(wait_until)
        is_main = self.internals is core.target.frames.main
        action = f"goto {shown_url(whole)} in a frame"
        async with core.action(action, timeout, also_unready=is_main) as budget:
            if is_main:
                return await follow_documents(
                    core, None, lambda: go_to(core.target, whole, state, budget, referer=referer)
                )
            if not self.attached:
                raise self._gone()
            frame = self.internals
            return await follow_documents(
                core,
                frame,
                lambda: go_to_in_frame(core.target, frame, whole, state, budget, referer=referer),
            )

    async def set_content(self, html: str, *, timeout: float = 30) -> None:
        """Replace the content of the frame's document, as `page.set_content` does."""
        source = script("_api/page/set_content")
        await self.page.internals.read("set content", source, timeout, html, frame=self.internals)

    async def content(self, *, timeout: float = 30) -> str:
        """Return the current HTML of the frame's document, with its doctype."""
        return str(await self.page.internals.read("content", CONTENT, timeout, frame=self.internals))

    async def title(self, *, timeout: float = 30) -> str:
        """Return the title of the frame's document."""
        return str(await self.page.internals.read("title", TITLE, timeout, frame=self.internals))

    async def frame_element(self, *, timeout: float = 30) -> FoundNode:
        """Return the element that shows the frame, in the document of its parent.

        Raises InvalidStateError for the main frame, NodeNotFoundError if the frame has left the page.
        """
        core, frames = self.page.internals, self.page.internals.target.frames
        async with core.action("find the element of a frame", timeout):
            if self.internals is frames.main:
                raise InvalidStateError("find the element of a frame", "the main frame has none")
            around = None if self.parent_id is None else frames.get(self.parent_id)
            if around is None:
                raise self._gone()
            loader_id, session = around.loader_id, around.session
            try:
                owner = await session.request("DOM.getFrameOwner", {"frameId": self.id}, FrameOwnerReply)
            except RemoteError:
                raise self._gone() from None
            described = f"the element of the frame {self.name or shown_url(self.url)[:60]}"
            return FoundNode(owner.backend_node_id, around.id, session.id, loader_id, described)

    find = in_frame(PageLocating.find)
    find_all = in_frame(PageLocating.find_all)
    evaluate = in_frame(PageLocating.evaluate)
    evaluate_handle = in_frame(PageLocating.evaluate_handle)
    wait_for = in_frame(PageLocating.wait_for)
    snapshot = in_frame(PageLocating.snapshot)
    locate = in_frame(PageLocating.locate)
    add_script_tag = add_in_frame(PageScripts.add_script_tag)
    add_style_tag = add_in_frame(PageScripts.add_style_tag)

    def _gone(self) -> NodeNotFoundError:
        return NodeNotFoundError(target=f"frame {self.id[:8]}", reason="it is no longer in the page")


def view_of(page: PageLocating, frame: FrameState) -> Frame:
    """Return the page's Frame for the engine's one."""
    views, tree = page.internals.frame_views, page.internals.target.frames
    key = "" if frame is tree.main else frame.id  # the id of the main frame can change
    view = views.get(key)
    if not isinstance(view, Frame):
        view = Frame(frame, tree, page)
        views[key] = view
    return view


class PageFrames(PageLocating):
    """The methods of a Page about its frames. They use `internals`."""

    @property
    def frames(self) -> list[Frame]:
        """The page's frames, the main one first."""
        return [view_of(self, each) for each in self.internals.target.frames]

    @property
    def main_frame(self) -> Frame:
        """The frame of the page's own document."""
        return view_of(self, self.internals.target.frames.main)

    async def content_frame(self, target: ElementTarget, *, timeout: float = 30) -> Frame:
        """Return the frame that an iframe element shows. `Frame.frame_element` is the way back.

        Raises NodeNotFoundError for any other element, StaleRefError, and for a Locator the errors of `page.find`.
        """
        core = self.internals
        async with core.action(f"find the frame of {describe_target(target)}", timeout) as budget:
            node = await core.find_node(target, budget)
            return view_of(self, await find_owned_frame(core.target, target, node))
