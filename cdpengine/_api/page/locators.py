"""Locators: descriptions of elements with the methods of a page on them.

Rule: making a locator sends nothing. A method on a locator is the page's method with the locator as its target, so
both have one implementation.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import attrs

from cdpengine._api.page.actions import PageActions
from cdpengine._api.page.core import ElementTarget, describe_target
from cdpengine._api.page.elements import PageElements
from cdpengine._api.page.evaluating import PageEvaluating
from cdpengine._api.page.finding import PageSearch, find_ref, make_query
from cdpengine._api.page.frame_targets import FrameTarget
from cdpengine._api.page.reading import PageReading
from cdpengine._api.page.waiting import NodeState
from cdpengine._api.page.waits import PageWaits
from cdpengine._checks import wrong_type
from cdpengine._evaluate.script import World
from cdpengine._input.action import ActionOutcome
from cdpengine._input.devices.keys import Layout
from cdpengine._page.patterns import Words
from cdpengine._page.search.locator import BaseLocator
from cdpengine._page.search.queries import Both, Either, Filtered, Known, Query, pick, put_inside
from cdpengine._pickling import not_picklable
from cdpengine._pictures.editing import ImageFormat
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.render.lines import Mode, RefsFor
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.misuse import name_our_arguments, name_ours
from cdpengine.errors.other_libraries import FIND, FRAME_LOCATOR, LOCATOR

T = TypeVar("T")
P = ParamSpec("P")


def on_match(
    method: Callable[Concatenate[PageLocating, ElementTarget, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Locator, P], Coroutine[Any, Any, T]]:
    """Return the method of a locator that calls a page's method with the locator as the target."""

    @functools.wraps(method)
    async def call(locator: Locator, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await method(locator.page, locator.target, *args, **kwargs)

    return _without_target(call)


def on_element(
    method: Callable[Concatenate[PageElements, ElementTarget, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Locator, P], Coroutine[Any, Any, T]]:
    """Return the method of a locator that calls a method of `page.elements` with the locator as the target."""

    @functools.wraps(method)
    async def call(locator: Locator, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await method(PageElements(locator.page.internals), locator.target, *args, **kwargs)

    return _without_target(call)


def _without_target(call: Callable[P, T]) -> Callable[P, T]:
    """Set the displayed signature of a wrapper: the page's method without the target."""
    signature = inspect.signature(call)
    itself, _, *rest = signature.parameters.values()
    call.__signature__ = signature.replace(parameters=[itself, *rest])  # type: ignore[attr-defined]
    return call


Self = TypeVar("Self")


def with_query(
    make: Callable[P, Query],
) -> Callable[[Callable[[Self, Query], T]], Callable[Concatenate[Self, P], T]]:
    """Return a decorator for a method of a query. The method then takes the arguments of `make`."""

    def decorate(method: Callable[[Self, Query], T]) -> Callable[Concatenate[Self, P], T]:
        @functools.wraps(method)
        def call(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> T:
            return method(self, make(*args, **kwargs))

        itself = next(iter(inspect.signature(method).parameters.values()))
        arguments = inspect.signature(make).parameters.values()
        returned = inspect.signature(method).return_annotation
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [itself, *arguments], return_annotation=returned
        )
        return call

    return decorate


@not_picklable("data of the element: a text, a value, a snapshot")
@attrs.frozen(repr=False)
class Locator(BaseLocator):
    """A description of an element, as a target of actions that find it again each time. See `page.locate`.

    Has the methods of a page on elements: `await page.locate("#go").click()` is `await page.click(...)`. An action
    waits for a match within its timeout, and acts on it. If the page replaces the element before that, the action
    finds it again. `type`, `press` and `drag` raise StaleRefError instead, because a repetition is unsafe. Raises
    the errors of `page.find`: NodeNotFoundError at the end of the timeout, AmbiguousNodeError immediately. `nth`,
    `first` and `last` choose one of several matches.

    `page` is the page. `internals` is the engine's own search for the match. It changes without notice.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(LOCATOR)

    page: PageLocating

    @property
    def target(self) -> ElementTarget:
        """The ref or node of a locator that `page.locate(ref=...)` made, or else the locator itself."""
        return cast("ElementTarget", self.query.target) if isinstance(self.query, Known) else self

    @with_query(make_query)
    def locate(self, query: Query) -> Locator:
        """Return the locator of elements inside of the matches. Takes the criteria of `page.locate`."""
        return attrs.evolve(self, query=put_inside(query, self.query))

    def within(self, other: Locator) -> Locator:
        """Return the locator of the matches that are inside of the matches of `other`.

        Raises InvalidArgumentError for a locator of another page or frame.
        """
        return self._combined(put_inside(self.query, self._query_of("within", other)), other)

    def filter(
        self,
        *,
        has: Locator | None = None,
        has_not: Locator | None = None,
        has_text: Words | None = None,
        has_not_text: Words | None = None,
        visible: bool | None = None,
    ) -> Locator:
        """Return the locator of those matches that meet all conditions.

        `has` and `has_not` are locators of elements that the match contains, or does not contain; their numbers
        (`nth`) count only elements in it. `has_text` and `has_not_text` are visible text in any case, or patterns.
        `visible` is whether the match is visible. Raises InvalidArgumentError without a condition, and for a
        locator of another page or frame.
        """
        filtered = Filtered(
            self.query,
            None if has is None else self._query_of("has", has),
            None if has_not is None else self._query_of("has_not", has_not),
            has_text,
            has_not_text,
            visible,
        )
        return self._combined(filtered, has, has_not)

    def and_(self, other: Locator) -> Locator:
        """Return the locator of the elements that match both. Raises the error of `within`."""
        return self._combined(Both(self.query, self._query_of("and_", other)), other)

    def or_(self, other: Locator) -> Locator:
        """Return the locator of the elements that match one of them, in page order.

        Raises the error of `within`.
        """
        return self._combined(Either(self.query, self._query_of("or_", other)), other)

    def _query_of(self, what: str, other: object) -> Query:
        if not isinstance(other, Locator):
            raise wrong_type(what, other, "a Locator")
        if other.page is not self.page:
            raise InvalidArgumentError(what, "a locator of another page", "one of the same page")
        return other.query

    def _combined(self, query: Query, *others: Locator | None) -> Locator:
        """Return the locator of a query in the one frame that this and other locators name, or in all frames."""
        searches = [each.internals for each in (self, *others) if each is not None]
        named = [each for each in searches if each != PageSearch(self.page.internals)]
        if any(each != named[0] for each in named):
            raise InvalidArgumentError("locator", "locators of different frames", "locators of one frame")
        return attrs.evolve(self, query=query, internals=named[0] if named else self.internals)

    def nth(self, index: int) -> Locator:
        """Return the locator of the match number `index`, from 0; -1 is the last. Raises InvalidArgumentError."""
        return attrs.evolve(self, query=pick(self.query, index))

    @property
    def first(self) -> Locator:
        """The locator of the first match."""
        return self.nth(0)

    @property
    def last(self) -> Locator:
        """The locator of the last match."""
        return self.nth(-1)

    async def count(self, *, timeout: float = 5) -> int:
        """Return the current number of matches, without waiting for one; at most 2000 for each document."""
        async with self.page.internals.action(f"count {self}", timeout):
            return len(await self.internals.find_all(self.query, 0, 0.0))

    async def all(self, *, timeout: float = 5) -> list[Locator]:
        """Return a locator for each current match, by its number, without waiting for one."""
        return [self.nth(index) for index in range(await self.count(timeout=timeout))]

    async def ref(self, *, timeout: float = 30) -> Ref:
        """Return the ref of the match, as a snapshot has it. Waits for the match.

        The ref keeps naming this one element when others match. An element without a line in snapshots gets one
        too, with the role "generic". Raises the errors of `page.find`.
        """
        return await find_ref(self.page.internals, self, timeout)

    click = on_match(PageActions.click)
    double_click = on_match(PageActions.double_click)
    hover = on_match(PageActions.hover)
    tap = on_match(PageActions.tap)
    drag = on_match(PageActions.drag)
    type = on_match(PageActions.type)
    fill = on_match(PageActions.fill)
    select = on_match(PageActions.select)
    check = on_match(PageActions.check)
    uncheck = on_match(PageActions.uncheck)
    upload = on_match(PageActions.upload)
    focus = on_match(PageActions.focus)
    scroll_into_view = on_match(PageActions.scroll_into_view)
    extract_text = on_match(PageReading.extract_text)
    extract_markdown = on_match(PageReading.extract_markdown)
    blur = on_element(PageElements.blur)
    bounding_box = on_element(PageElements.bounding_box)
    outer_html = on_element(PageElements.outer_html)
    text_content = on_element(PageElements.text_content)
    inner_text = on_element(PageElements.inner_text)
    inner_html = on_element(PageElements.inner_html)
    get_attribute = on_element(PageElements.get_attribute)
    input_value = on_element(PageElements.input_value)
    computed_style = on_element(PageElements.computed_style)
    is_visible = on_element(PageElements.is_visible)
    is_hidden = on_element(PageElements.is_hidden)
    is_enabled = on_element(PageElements.is_enabled)
    is_disabled = on_element(PageElements.is_disabled)
    is_editable = on_element(PageElements.is_editable)
    is_checked = on_element(PageElements.is_checked)
    is_focused = on_element(PageElements.is_focused)
    select_text = on_element(PageElements.select_text)
    dispatch_event = on_element(PageElements.dispatch_event)

    async def press(
        self, key: str, *, layout: str | Layout | None = None, timeout: float = 30
    ) -> ActionOutcome:
        """Press a key or a chord on the match. Works like `page.press`."""
        return await self.page.press(key, self.target, layout=layout, timeout=timeout)

    async def scroll(self, dx: float, dy: float, *, timeout: float = 30) -> ActionOutcome:
        """Turn the mouse wheel over the match. Works like `page.scroll`."""
        return await self.page.scroll(dx, dy, self.target, timeout=timeout)

    async def evaluate(self, function: str, *args: object, world: World = "main", timeout: float = 30) -> Any:
        """Call a function in the page with the match and `args`. Works like `page.evaluate`."""
        return await self.page.evaluate(function, *args, target=self.target, world=world, timeout=timeout)

    async def screenshot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        format: ImageFormat | None = None,  # noqa: A002 - the protocol's own name for it
        quality: int | None = None,
        scale: float | None = None,
        max_side: int | None = None,
        omit_background: bool = False,
        mask: Sequence[ElementTarget] = (),
        mask_color: str = "#ff00ff",
        overwrite: bool = True,
        timeout: float = 30,
    ) -> bytes:
        """Return an image of the match, scrolled into view. Works like `page.screenshot` with `target`."""
        return await self.page.screenshot(
            path,
            target=self.target,
            format=format,
            quality=quality,
            scale=scale,
            max_side=max_side,
            omit_background=omit_background,
            mask=mask,
            mask_color=mask_color,
            overwrite=overwrite,
            timeout=timeout,
        )

    async def snapshot(
        self,
        *,
        mode: Mode = "role",
        interactive: bool = False,
        compact: bool = False,
        max_depth: int | None = None,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        source: Source | None = None,
        refs: RefsFor = "actions",
        ignored: bool = False,
        fresh: bool = False,
        since: Snapshot | None = None,
        timeout: float = 30,
    ) -> Snapshot:
        """Return the match and its content as lines. Works like `page.snapshot` with `root`."""
        return await self.page.snapshot(
            root=self.target,
            mode=mode,
            interactive=interactive,
            compact=compact,
            max_depth=max_depth,
            max_chars=max_chars,
            max_tokens=max_tokens,
            source=source,
            refs=refs,
            ignored=ignored,
            fresh=fresh,
            since=since,
            timeout=timeout,
        )

    async def wait_for(self, state: NodeState = "visible", *, timeout: float = 30) -> None:
        """Wait until the match is in a state. Works like `page.wait_for(ref=...)`."""
        await self.page.wait_for(ref=self.target, state=state, timeout=timeout)

    @with_query(make_query)
    def frame_locator(self, query: Query) -> FrameLocator:
        """Return the locator of a frame by its element inside of the match.

        Takes the criteria of `page.locate`.
        """
        return FrameLocator(attrs.evolve(self, query=put_inside(query, self.query)))

    @property
    def content_frame(self) -> FrameLocator:
        """The content of the match, which is an iframe."""
        return FrameLocator(self)


@not_picklable("data of the elements in it")
@attrs.frozen
class FrameLocator:
    """A description of a frame by its element, for locators in it: see `page.frame_locator`.

    `owner` is the locator of the frame's element. The frame is found again for each use, so a page may replace it.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(FRAME_LOCATOR)

    owner: Locator

    def __str__(self) -> str:
        return f"the frame {self.owner}"

    @with_query(make_query)
    def locate(self, query: Query) -> Locator:
        """Return the locator of elements in the frame. Takes the criteria of `page.locate`."""
        return Locator(query, PageSearch(self.owner.page.internals, self.owner), self.owner.page)

    @with_query(make_query)
    def frame_locator(self, query: Query) -> FrameLocator:
        """Return the locator of a frame in this frame. Takes the criteria of `page.locate`."""
        return FrameLocator(
            Locator(query, PageSearch(self.owner.page.internals, self.owner), self.owner.page)
        )

    def nth(self, index: int) -> FrameLocator:
        """Return the frame of the owner number `index`, from 0; -1 is the last. Raises InvalidArgumentError."""
        return FrameLocator(self.owner.nth(index))

    @property
    def first(self) -> FrameLocator:
        """The frame of the first owner."""
        return self.nth(0)

    @property
    def last(self) -> FrameLocator:
        """The frame of the last owner."""
        return self.nth(-1)


class PageLocating(PageActions, PageReading, PageEvaluating, PageWaits):
    """The methods of a Page on elements, and those that make locators. They use `internals`."""

    @name_our_arguments(FIND)
    def locate(
        self,
        css: str | None = None,
        *,
        role: str | None = None,
        name: Words | None = None,
        text: Words | None = None,
        label: Words | None = None,
        placeholder: Words | None = None,
        alt_text: Words | None = None,
        title: Words | None = None,
        test_id: str | None = None,
        exact: bool = False,
        nth: int | None = None,
        frame: FrameTarget | None = None,
        ref: ElementTarget | None = None,
    ) -> Locator:
        """Return a Locator: a description of an element, which each action waits for and resolves again.

        Use it for pages that often redraw their elements. A ref or a result of `find` is one element of one
        document; a Locator finds the element that matches when it is used. Takes the arguments of `find`. `nth` is
        a number from 0, or from the end: -1 is the last match. `ref`, a ref or node, makes a locator of a known
        element. Sends nothing to the page. Raises InvalidArgumentError for an unknown role, with the nearest
        roles, and for a ref together with other criteria.
        """
        if ref is None:
            query = make_query(
                css,
                role=role,
                name=name,
                text=text,
                label=label,
                placeholder=placeholder,
                alt_text=alt_text,
                title=title,
                test_id=test_id,
                exact=exact,
                nth=nth,
            )
            return Locator(query, PageSearch(self.internals, frame), self)
        if isinstance(ref, Locator):
            ref.check_page(self.internals.target)
            return ref
        given = (css, role, name, text, label, placeholder, alt_text, title, test_id, nth, frame)
        if given != (None,) * len(given):
            raise InvalidArgumentError("ref", "a ref and other criteria", "only the ref")
        return Locator(Known(ref, describe_target(ref)), PageSearch(self.internals), self)

    @with_query(make_query)
    def frame_locator(self, query: Query) -> FrameLocator:
        """Return the locator of a frame by its element, for example `page.frame_locator("iframe.pay")`.

        Takes the criteria of `locate`. Sends nothing to the page.
        """
        return FrameLocator(Locator(query, PageSearch(self.internals), self))
