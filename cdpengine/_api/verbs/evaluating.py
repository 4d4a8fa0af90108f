"""EvaluatingVerbs: what one does with a page by JavaScript: the user's, and the engine's own.

Rule: a user's script goes through `evaluate` and may be switched off; the engine's own are
files beside their modules, and run in a world of their own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from cdpengine._api.page_core import PageVerbs
from cdpengine._api.targets import BackendNode, ElementTarget
from cdpengine._budget import Budget
from cdpengine._evaluate.evaluation import JSHandle, Script, World
from cdpengine._evaluate.recovery import Recovery
from cdpengine._javascript import own, script
from cdpengine._page.finding import FoundNode
from cdpengine._page.frames import Frame
from cdpengine._protocol.instruments import span as action_span
from cdpengine._snapshot.refs import Ref

_TITLE = own("document.title /* of page.title() */")
"""Not the same source as a user would write: what the user evaluates is not the engine's own."""


class EvaluatingVerbs(PageVerbs):
    """The part of a Page that evaluates."""

    async def title(self, *, timeout: float = 30) -> str:
        """Return the document's title."""
        return str(await self._core.read("title", _TITLE, timeout))

    async def content(self, *, timeout: float = 30) -> str:
        """Return the document's HTML as it is now, with its doctype."""
        return str(await self._core.read("content", script("_api/verbs/content"), timeout))

    async def set_content(self, html: str, *, timeout: float = 30) -> None:
        """Replace the document's content by `html` and wait until it has loaded. The URL stays as it is."""
        await self._core.read("set content", script("_api/verbs/set_content"), timeout, html)

    async def evaluate(
        self,
        expression_or_function: str,
        *args: object,
        target: ElementTarget | None = None,
        frame: Frame | None = None,
        world: World = "main",
        recover: Recovery = "terminate",
        timeout: float = 30,
    ) -> Any:
        """Evaluate an expression, or call a function with `args`, and return its value; promises are awaited.

        Runs on a session of its own, so it never holds up another action. When the timeout or a surrounding
        cancel scope ends it, the page's script is terminated first; `recover` says how much further to go with a
        page that does not answer even then (see `recover`). `target`, a ref or node, is passed to the function as
        its first argument; a Ref or BackendNode among the other arguments is an element too. `frame` is one of
        `frames`; `world="isolated"` keeps out of reach of the page's own script. Arguments are what JSON holds,
        NaN, the infinities, -0 and big integers; what comes back is told in cdpengine/_evaluate/values.py.

        Raises EvaluationFailedError when the script threw, EvaluationTimeoutError at the deadline,
        EvaluationTerminatedError when the page navigated away or another termination hit it,
        EvaluationDisabledError, StaleRefError and NodeNotFoundError for an element that is gone.
        """
        budget = Budget.start("evaluate", timeout)
        script = self._script(expression_or_function, args, target, frame, world)
        with action_span("page.evaluate"), self._core.target.dialogs.reported("evaluate"):
            return await self._core.evaluator.evaluate(script, budget, allow=recover)

    @asynccontextmanager
    async def evaluate_handle(
        self,
        expression_or_function: str,
        *args: object,
        target: ElementTarget | None = None,
        frame: Frame | None = None,
        world: World = "main",
        recover: Recovery = "terminate",
        timeout: float = 30,
    ) -> AsyncIterator[JSHandle]:
        """Evaluate as `evaluate` does, and leave the value in the page: `async with` gives a handle on it.

        The handle can be an argument of `evaluate` while the block lasts; it is released with the block. Raises
        InvalidArgumentError for a value that is no object, and as `evaluate`.
        """
        budget = Budget.start("evaluate", timeout)
        script = self._script(expression_or_function, args, target, frame, world)
        async with AsyncExitStack() as stack:
            with action_span("page.evaluate_handle"):
                handle = await stack.enter_async_context(
                    self._core.evaluator.handle(script, budget, allow=recover)
                )
            yield handle

    def _script(
        self,
        source: str,
        args: Sequence[object],
        target: ElementTarget | None,
        frame: Frame | None,
        world: World,
    ) -> Script:
        first = [] if target is None else [self._core.node(target)]
        rest = [
            self._core.node(arg) if isinstance(arg, (Ref, BackendNode, FoundNode)) else arg for arg in args
        ]
        return Script(source, [*first, *rest], frame=frame, world=world)
