"""PageScripts: the scripts of a page, and script and style elements that the program adds to a document.

Rule: the engine adds the element from its isolated world, and waits until it has loaded. If it does not load, the
error has the reason: the response of the server, Chrome's network error, or the page's Content Security Policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import attrs
import msgspec

from cdpengine._api.page.core import PageCore
from cdpengine._api.page.frame_targets import FrameTarget, find_requested_frame
from cdpengine._api.page.targets import find_handle_node
from cdpengine._api.scopes.awaitable_scope import SettingScope
from cdpengine._api.scopes.scripts import Scripts, read_source
from cdpengine._budget import Budget
from cdpengine._checks import check_string
from cdpengine._evaluate.script import Script
from cdpengine._javascript import script
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.document_waits import QUESTIONS
from cdpengine._page.search.locator import FoundNode
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.network import LoadingFailed, RequestWillBeSentHead, ResponseReceivedHead
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    EvaluationDisabledError,
    EvaluationFailedError,
    InvalidArgumentError,
    RemoteError,
    TagNotLoadedError,
    shown_url,
)

_MARK = "cdpengine: "
"""Beginning of the reasons in add_tag.js."""

_LONGEST = 300

_FIRST_ERROR = 400

Kind = Literal["script", "style"]


@not_picklable("the sources of the scripts")
class PageScripts(Scripts):
    """Scripts and functions in the documents of a page, and elements with scripts and styles: `page.scripts`."""

    def __init__(self, scope: SettingScope, core: PageCore) -> None:
        super().__init__(scope)
        self._core = core

    async def add_script_tag(
        self,
        url: str | None = None,
        *,
        path: str | Path | None = None,
        content: str | None = None,
        type: str = "",  # noqa: A002 - the name of the attribute
        frame: FrameTarget | None = None,
        timeout: float = 30,
    ) -> FoundNode:
        """Add a `<script>` to the current document, and return it once its script has run.

        The script is at `url`, in the file `path`, or `content`. `type="module"` makes it a module; a module
        without a URL may run after the call. `frame` names a frame as in `page.snapshot`. The script ends with its
        document; `add_init_script` adds one to every document.

        Raises TagNotLoadedError with the reason: an HTTP status, Chrome's network error, or the page's Content
        Security Policy. Raises StaleRefError if the script has left the document, InvalidArgumentError,
        EvaluationDisabledError and the errors of `page.evaluate`.
        """
        check_string("type", type)
        if not self._core.evaluator.enabled:
            raise EvaluationDisabledError(action="add a script")
        return await self._add("script", url, path, content, type, frame, timeout)

    async def add_style_tag(
        self,
        url: str | None = None,
        *,
        path: str | Path | None = None,
        content: str | None = None,
        frame: FrameTarget | None = None,
        timeout: float = 30,
    ) -> FoundNode:
        """Add a style sheet to the current document, and return its element once the sheet applies.

        The style sheet is at `url`, which makes a `<link>`, in the file `path`, or `content`. Raises the errors of
        `add_script_tag`.
        """
        return await self._add("style", url, path, content, "", frame, timeout)

    async def _add(
        self,
        kind: Kind,
        url: str | None,
        path: str | Path | None,
        content: str | None,
        type_: str,
        frame: FrameTarget | None,
        timeout: float,
    ) -> FoundNode:
        what = "script" if kind == "script" else "style sheet"
        if [url, path, content].count(None) != 2:
            given = "no source" if [url, path, content].count(None) == 3 else "several sources"
            raise InvalidArgumentError(what, given, "one of url, path and content")
        if url is not None:
            check_string("url", url, empty=False)
        elif path is not None:
            source = await read_source("path", path)
            mark = f"# sourceURL={str(path).replace('*/', '')}".replace("\n", "")
            content = f"{source}\n//{mark}" if kind == "script" else f"{source}\n/*{mark}*/"
        else:
            check_string("content", content)
        name = f"add a {what}" + (f" from {shown_url(url)}" if url is not None else "")
        async with self._core.action(name, timeout) as budget:
            chosen = await find_requested_frame(self._core, frame, budget)
            request = {"style": kind == "style", "url": url, "content": content, "type": type_}
            return await self._add_to(chosen or self._core.target.frames.main, what, request, budget)

    async def _add_to(self, frame: Frame, what: str, request: dict[str, Any], budget: Budget) -> FoundNode:
        core, session, url = self._core, frame.session, request["url"]
        guarded = url is None and await _has_policy(frame)
        made = Script(script("_api/page/add_tag"), [{**request, "guarded": guarded}], frame=frame, own=True)
        loading = _Loading(url or "")
        async with AsyncExitStack() as stack:
            if url is not None:
                await stack.enter_async_context(session.enabled("Network"))
                stack.enter_context(loading.followed(session))
            try:
                async with core.evaluator.handle(made, budget) as handle:
                    core.target.running.unconfirmed = QUESTIONS  # its scripts may navigate
                    return await find_handle_node(core.target, core.worlds, handle)
            except EvaluationFailedError as failed:
                _, marked, reason = failed.text.partition(_MARK)
                if not marked:
                    raise
                reason = loading.reason or reason
                source = "" if url is None else shown_url(url)
                raise TagNotLoadedError(what, source, reason[:_LONGEST]) from None


# --- the reason of a failure -------------------------------------------------------------------------------------


class _Policies(msgspec.Struct):
    csp: list[msgspec.Raw] = []


class _Isolation(msgspec.Struct):
    status: _Policies = msgspec.field(default_factory=_Policies)


async def _has_policy(frame: Frame) -> bool:
    """Return whether the frame's document may have a Content Security Policy."""
    try:
        params = {"frameId": frame.id}
        answer = await frame.session.request("Network.getSecurityIsolationStatus", params, _Isolation)
    except RemoteError:
        return True
    return bool(answer.status.csp)


@attrs.define(eq=False)
class _Loading:
    """The failure of the resource that an element loads: an error of Chrome, or an HTTP status."""

    url: str
    reason: str = ""
    _requests: set[str] = attrs.field(factory=set, init=False)

    def sent(self, event: Event) -> None:
        """Note a request of the resource."""
        request = event.decode(RequestWillBeSentHead)
        if request.type in ("Script", "Stylesheet") and request.request.url.endswith(
            self.url.partition("#")[0]
        ):
            self._requests.add(request.request_id)

    def received(self, event: Event) -> None:
        """Note the status of the response."""
        response = event.decode(ResponseReceivedHead)
        if response.request_id in self._requests and response.response.status >= _FIRST_ERROR:
            self.reason = f"the server answered with status {response.response.status}"

    def failed(self, event: Event) -> None:
        """Note Chrome's reason."""
        failure = event.decode(LoadingFailed)
        if failure.request_id in self._requests and not self.reason and failure.blocked_reason != "csp":
            self.reason = failure.error_text

    @contextmanager
    def followed(self, session: Session) -> Iterator[None]:
        """Follow the session's requests during the block."""
        listeners = {
            "Network.requestWillBeSent": self.sent,
            "Network.responseReceived": self.received,
            "Network.loadingFailed": self.failed,
        }
        with session.listening(listeners):
            yield
