"""Init scripts and exposed functions in the documents of a page or a context.

Rule: each setting applies to a block, or until it is removed, and is undone at its end. `evaluate_enabled=False`
disables these too, because they are user JavaScript.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import attrs
import trio

from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope, check_function, check_limit
from cdpengine._budget import within
from cdpengine._checks import check_choice, check_string, invalid
from cdpengine._evaluate.init_script import InitScript
from cdpengine._evaluate.injection import (
    Binding,
    BindingFailure,
    ExposedBinding,
    ExposedFunction,
)
from cdpengine._evaluate.literals import to_literal
from cdpengine._evaluate.replies import holds_objects, receive_value
from cdpengine._history import BoundedHistory, Records
from cdpengine._nursery import open_body_nursery
from cdpengine._page.page_scope import SessionOverride
from cdpengine._page.scripts.page_functions import ExecutionContext, object_group
from cdpengine._page.scripts.worlds import USERS_WORLD_NAME
from cdpengine._paths import to_path
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.runtime import CompileScriptReply, EvaluateReply
from cdpengine._protocol.session import Session
from cdpengine.errors import EvaluationDisabledError, InvalidArgumentError

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@attrs.define(eq=False)
class Bindings:
    """The exposed functions of a page or context. `active` lists the current ones.

    `failures` lists calls that were rejected, including those of functions that are no longer exposed.
    """

    failures: BoundedHistory[BindingFailure]
    active: list[Binding] = attrs.field(factory=list)


@not_picklable("the sources of the scripts")
class Scripts:
    """Scripts and functions in the documents of a page, or of a context: `page.scripts`, `context.scripts`.

    `bindings` lists the exposed functions and their failed calls.
    """

    def __init__(self, scope: SettingScope) -> None:
        self._scope = scope
        self._failures: Records[BindingFailure] = Records()
        self.bindings = Bindings(BoundedHistory(self._failures))

    def add_init_script(
        self,
        source: str | None = None,
        *,
        path: str | Path | None = None,
        world: Literal["main", "isolated"] = "main",
        timeout: float = 30,
    ) -> AwaitableScope[None]:
        """Run a script in every new document before the document's own scripts.

        Use `async with` to keep the script for a block, or `await` to keep it until `remove_init_scripts`.

        `source` is the script, or `path` the file that contains it. It also runs in frames, including those of
        other processes, and in the pages that the page opens, but not in existing documents. Several scripts run
        in the order of their calls. A document that Chrome prerendered before the engine connected runs them on
        activation. `world="isolated"` hides the script from the page's scripts.

        Raises InvalidArgumentError (also for a script that does not compile, if a page exists to compile it),
        EvaluationDisabledError, DeadlineExceededError, or the error of an unreachable page.
        """

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            self._check_enabled("add an init script")
            text = await _source(source, path)
            check_choice("world", world, ("main", "isolated"))
            page_scope = self._scope.page_scope
            init_script = InitScript(page_scope.tabs, text, world="" if world == "main" else USERS_WORLD_NAME)
            override = SessionOverride(
                page_scope, init_script.begin, init_script.end, renew=init_script.renew
            )
            try:
                async with self._scope.entering("add an init script", timeout):
                    page = page_scope.page
                    if page is not None and not page.session.is_discarded:  # a discarded tab compiles nothing
                        await _check_syntax(page.session, text)
                    await override.enter()
                yield
            finally:
                await override.leave()

        return self._scope.lasting("init script", "scripts.add_init_script", scope)

    def expose(
        self, name: str, function: ExposedFunction, *, limit: float = 30, timeout: float = 30
    ) -> AwaitableScope[Binding]:
        """Expose `function` to the page's JavaScript as `name(...)`, which returns a promise.

        Use `async with` to expose it for a block, or `await` to expose it until `unexpose`.

        The function exists in all current documents, in new ones before their first script, in frames (also of
        other sites, so any script in the page can call it), and in pages that the page opens. Arguments arrive as
        `evaluate` returns values. The result of the async function is sent as `evaluate` sends arguments. Calls of
        one process begin in the page's order, and overlap from their first checkpoint on. `evaluate`, `click` and
        other actions return after the page's earlier calls have begun; the devices, such as `page.mouse`, do not
        wait. An exception rejects the promise with an Error of its name and message. A call longer than `limit`
        seconds is rejected with a TimeoutError. Such failures are in `bindings.failures` and in the log. At the
        end, `name` has its earlier value again, and pending promises are rejected.

        Raises InvalidArgumentError (also for a name that is exposed already), EvaluationDisabledError,
        DeadlineExceededError, or the error of an unreachable page.
        """

        @asynccontextmanager
        async def scope() -> AsyncIterator[Binding]:
            self._check_enabled("expose a function")
            if not isinstance(name, str) or _IDENTIFIER.fullmatch(name) is None:
                raise invalid("name", name, "a name of a JavaScript function")
            check_function("function", function)
            check_limit(limit)
            page_scope = self._scope.page_scope
            async with open_body_nursery() as nursery:
                exposed = ExposedBinding(
                    page_scope.tabs,
                    name,
                    function,
                    limit=limit,
                    nursery=nursery,
                    read=_read,
                    literal=to_literal,
                    log=self._failures,
                )
                self.bindings.active.append(exposed.binding)
                try:
                    override = SessionOverride(
                        page_scope, exposed.begin, exposed.end, renew=exposed.renew, restore=exposed.restore
                    )
                    async with self._scope.overriding(override, f"expose {name}", timeout, exposed.close):
                        yield exposed.binding
                finally:
                    self.bindings.active.remove(exposed.binding)

        return self._scope.lasting("function", "scripts.expose", scope)

    async def remove_init_scripts(self, *, timeout: float = 30) -> int:
        """End the awaited init scripts and return their number.

        Raises DeadlineExceededError.
        """
        with within("remove the init scripts", timeout):
            return await self._scope.end("init script")

    async def unexpose(self, name: str | None = None, *, timeout: float = 30) -> int:
        """End the awaited function `name`, or all awaited functions. Return their number.

        Raises DeadlineExceededError.
        """
        with within("remove exposed functions", timeout):
            return await self._scope.end("function", lambda exposed: name in (None, exposed.name))

    def _check_enabled(self, action: str) -> None:
        if not self._scope.evaluate_enabled:
            raise EvaluationDisabledError(action=action)


async def _source(source: str | None, path: str | Path | None) -> str:
    if (source is None) == (path is None):
        given = "no source" if source is None else "two sources"
        raise InvalidArgumentError(what="init script", given=given, expected="source or path")
    return check_string("source", source) if path is None else await read_source("path", path)


async def read_source(what: str, path: str | Path) -> str:
    """Return the text of a file. Raises InvalidArgumentError if it cannot be read."""
    try:
        return await trio.Path(to_path(what, path)).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8"
        raise InvalidArgumentError(
            what=what, given=repr(str(path))[:200], expected=f"a readable file ({reason})"
        ) from None


async def _check_syntax(session: Session, source: str) -> None:
    async with session.enabled("Runtime"):
        params = {"expression": source, "sourceURL": "", "persistScript": False}
        compiled = await session.request("Runtime.compileScript", params, CompileScriptReply)
    if (details := compiled.exception_details) is not None:
        thrown = details.reason or "a syntax error"
        where = f"line {(details.line_number or 0) + 1}"
        raise InvalidArgumentError(
            what="init script",
            given=f"a script that does not compile ({where}: {thrown[:200]})",
            expected="JavaScript",
        )


async def _read(session: Session, context: int, expression: str) -> Any:
    """Evaluate an expression in one execution context. Return its value as `evaluate` does."""
    how = {"silent": True}
    await trio.lowlevel.checkpoint_if_cancelled()
    with object_group("binding") as group:
        call = ExecutionContext(session, context).post_expression(expression, how=how, group=group)
        reply = await call.decoded(EvaluateReply)
        if not holds_objects(reply):
            group.forget()
        return await receive_value(session, reply, group)
