"""dispatch: the only way to perform a request: in a process, over HTTP and MCP, in the shell.

Rule: a request's `timeoutMs` sets one deadline for all its parts. Failures are in the response, never
exceptions. Only a cancellation propagates, after the engine has stopped the page's script and released pressed
keys and buttons.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine.act import hooks
from cdpengine.act.actor import Actor, actor_of
from cdpengine.act.announcing import perform_announced
from cdpengine.act.fields import file_fields
from cdpengine.act.parsing import parse_request
from cdpengine.act.performing import Performance, perform
from cdpengine.act.requests import ActingRequest, ActRequest, file_in_url
from cdpengine.act.response import ActResponse, describe_dialog, describe_failure, describe_url
from cdpengine.errors import EngineError, EvaluationDisabledError, InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine import Browser, Page


async def dispatch(
    browser: Browser | Actor,
    request: ActRequest | Mapping[str, Any] | str | bytes,
    *,
    evaluate_enabled: bool = True,
) -> ActResponse:
    """Perform a request, and return the response.

    `request` is one of the classes of `cdpengine.act`, or JSON: a string, or the result of `json.loads`. A
    program that acts for several users passes an `Actor` for each instead of the browser. `evaluate_enabled`
    False refuses every request that runs a script of the caller: evaluate, wait with a function, and going to a
    URL that is a script or a document of the caller (javascript:, data:, blob:).

    Raises only `trio.Cancelled`. Failures are in the response's `error`.
    """
    actor = actor_of(browser)
    response = await dispatch_within(actor, request, evaluate_enabled=evaluate_enabled)
    return _with_dialogs(response, actor)


async def dispatch_within(
    actor: Actor,
    request: ActRequest | Mapping[str, Any] | str | bytes,
    *,
    evaluate_enabled: bool = True,
) -> ActResponse:
    """Perform a part of another request, like `dispatch`; that request's response reports the dialogs."""
    try:
        parsed = parse_request(request)
    except InvalidArgumentError as error:
        kind = request.get("kind") if isinstance(request, Mapping) else None
        return ActResponse(
            kind=kind[:40] if isinstance(kind, str) else "", ok=False, error=describe_failure(error)
        )
    deadline = trio.current_time() + parsed.timeout
    try:
        await check_limits(parsed, actor, evaluate_enabled=evaluate_enabled)
    except EngineError as error:
        if parsed.opens_url:
            actor.note_refusal(str(error))
        return ActResponse(kind=parsed.kind, ok=False, error=describe_failure(error))
    await hooks.call_before(actor, parsed)
    performance: Performance | None = None
    try:
        performance = await _begin(actor, parsed, deadline)
        response = await _perform(performance, parsed)
    except EngineError as error:
        response = ActResponse(kind=parsed.kind, ok=False, error=describe_failure(error))
        response = response if performance is None else _with_page(response, performance)
    return await hooks.call_after(actor, parsed, response)


async def _begin(actor: Actor, request: ActRequest, deadline: float) -> Performance:
    if not request.wants_page():
        return Performance(actor, None, deadline)
    if request.opens_url and request.target_id is None and actor.current is None:
        return Performance(actor, await actor.open_page(request.timeout), deadline)
    return Performance(actor, actor.page_of(request), deadline)


async def _perform(performance: Performance, request: ActRequest) -> ActResponse:
    actor, page = performance.actor, performance.page_or_none
    if page is None:
        return _respond(performance, request, await perform(performance, request))
    async with actor.turn(page, request, performance.deadline):
        return await perform_announced(performance, request, lambda: _perform_on(page, performance, request))


async def _perform_on(page: Page, performance: Performance, request: ActRequest) -> ActResponse:
    actor = performance.actor
    wants_diff = isinstance(request, ActingRequest) and request.diff
    if wants_diff and not request.leaves:
        await actor.look_before(page, performance.left)
    response = _respond(performance, request, await perform(performance, request))
    if wants_diff:
        response = attrs.evolve(response, diff=await actor.look_after(page, performance.left))
    elif request.leaves:
        await actor.read_ahead(page, performance.left)
    return response


def _respond(performance: Performance, request: ActRequest, result: Any) -> ActResponse:
    response = ActResponse(kind=request.kind, ok=True, result=result, effects=performance.effects)
    return _with_page(response, performance)


def _with_page(response: ActResponse, performance: Performance) -> ActResponse:
    page = performance.page_or_none
    if page is None:
        return response
    return attrs.evolve(response, target_id=page.target_id, url=describe_url(page.url))


def _with_dialogs(response: ActResponse, actor: Actor) -> ActResponse:
    """Add to the response all dialogs that opened since the last response, during the action or before."""
    dialogs, omitted = actor.take_dialogs()
    if not dialogs and not omitted:
        return response
    described = tuple(map(describe_dialog, dialogs))
    effects = attrs.evolve(response.effects, dialogs=described, dialogs_omitted=omitted)
    return attrs.evolve(response, effects=effects)


async def check_limits(request: ActRequest, actor: Actor, *, evaluate_enabled: bool = True) -> None:
    """Raise EvaluationDisabledError or InvalidArgumentError for a request that the actor may not make."""
    _check_scripts(request, evaluate_enabled=evaluate_enabled and actor.evaluate_enabled)
    _check_protocol(request, actor)
    await _check_files(request, actor)


async def _check_files(request: ActRequest, actor: Actor) -> None:
    """Raise InvalidArgumentError for a file that may not be used. Resolving links reads the disk."""
    for name in file_fields(type(request)):
        value = getattr(request, name)
        for path in () if value is None else (value,) if isinstance(value, str) else value:
            await trio.to_thread.run_sync(actor.check_file, f"{request.kind}.{name}", path)
    if request.opens_url and (file := file_in_url(getattr(request, "url", None))) is not None:
        await trio.to_thread.run_sync(actor.check_file, f"{request.kind}.url", file)


def _check_protocol(request: ActRequest, actor: Actor) -> None:
    """Raise InvalidArgumentError for a protocol request if these are refused."""
    if request.uses_protocol and not actor.commands_enabled:
        raise InvalidArgumentError(
            what=request.kind,
            given="a request for the protocol",
            expected="another kind: such requests are not enabled here",
        )


def _check_scripts(request: ActRequest, *, evaluate_enabled: bool) -> None:
    """Raise EvaluationDisabledError for a request with a script of the caller if these are refused."""
    if not evaluate_enabled and (script := request.script()):
        raise EvaluationDisabledError(action=script)
