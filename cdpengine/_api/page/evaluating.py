"""PageEvaluating: the Page methods that run scripts in the page.

Rule: every method takes one `timeout`, creates one Budget from it, and passes it down to the modules of this
folder. Invalid arguments are refused before anything is sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from cdpengine._api.page.core import ElementTarget, PageCore
from cdpengine._api.page.frame_targets import FrameTarget
from cdpengine._api.page.script_arguments import make_script, run_script
from cdpengine._budget import Budget
from cdpengine._evaluate.handles import JSHandle
from cdpengine._evaluate.recovery import Recovery
from cdpengine._evaluate.script import Script, World
from cdpengine._page.announcing import announce_block
from cdpengine._page.running_actions import announced
from cdpengine._protocol.wire import span as action_span
from cdpengine.errors.misuse import block


class PageEvaluating:
    """The methods of a Page that run scripts in it. They use `internals`."""

    internals: PageCore

    @announced("evaluate")
    async def evaluate(
        self,
        expression_or_function: str,
        *args: object,
        target: ElementTarget | None = None,
        frame: FrameTarget | None = None,
        world: World = "main",
        recover: Recovery = "terminate",
        timeout: float = 30,
    ) -> Any:
        """Evaluate an expression, or call a function with `args`, and return its value. Promises are awaited.

        Runs on a separate session, so it never delays another action. When the timeout or a surrounding cancel
        scope ends it, the page's script is terminated first. `recover` allows further steps for a page that does
        not respond even then (see `Page.recover`). `target`, a ref or node, is the function's first argument.
        Refs, found nodes, Locators and handles among the other arguments become elements and values too, also
        inside of lists and mappings. `frame` names a frame as in `snapshot`. `world="isolated"` hides the script
        from the page's scripts. Other arguments are JSON values, NaN,
        the infinities, -0 and big integers. cdpengine/_evaluate/values.py describes the results.

        Raises EvaluationFailedError if the script threw, EvaluationTimeoutError at the deadline,
        EvaluationTerminatedError if the page navigated away or another termination ended the script,
        EvaluationDisabledError, and StaleRefError and NodeNotFoundError for a missing element.
        """
        budget = Budget.start("evaluate", timeout)

        async def run(script: Script) -> Any:
            with action_span("page.evaluate"), self.internals.target.running.run("evaluate"):
                return await self.internals.evaluator.evaluate(script, budget, allow=recover)

        if args or target is not None or frame is not None:
            make = partial(
                make_script, self.internals, expression_or_function, args, target, frame, world, budget
            )
            return await run_script(make, run)
        return await run(Script(expression_or_function, world=world))

    @block("page.evaluate_handle(...) as handle")
    async def evaluate_handle(
        self,
        expression_or_function: str,
        *args: object,
        target: ElementTarget | None = None,
        frame: FrameTarget | None = None,
        world: World = "main",
        recover: Recovery = "terminate",
        timeout: float = 30,
    ) -> AsyncIterator[JSHandle]:
        """Evaluate as `evaluate` does, but keep the value in the page: `async with` gives a handle to it.

        During the block, the handle can be an argument of `evaluate`, also inside of lists and mappings. A handle
        to an element can be the target of any action. The end of the block releases it. Raises the errors of
        `evaluate`.
        """
        await announce_block("evaluate_handle", self.internals.target.running.listeners)
        budget = Budget.start("evaluate", timeout)
        make = partial(
            make_script, self.internals, expression_or_function, args, target, frame, world, budget
        )
        async with AsyncExitStack() as stack:

            async def hold(script: Script) -> JSHandle:
                with action_span("page.evaluate_handle"):
                    handle = self.internals.evaluator.handle(script, budget, allow=recover)
                    return await stack.enter_async_context(handle)

            yield await run_script(make, hold)
