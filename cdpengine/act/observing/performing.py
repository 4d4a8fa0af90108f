"""Handlers of the requests about protocol traffic and resource use.

Rule: as in `act/acting.py`; results are JSON data. Anything that continues between two requests is an OpenScope of
the actor, by its kind and its page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from cdpengine._budget import within
from cdpengine._page.patterns import url_test
from cdpengine._paths import to_path
from cdpengine._plain import to_plain
from cdpengine.act.observing import requests
from cdpengine.act.observing.open_scope import find_scope, open_scope
from cdpengine.act.observing.requests import Measurement
from cdpengine.act.performing import Performance
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import describe_url
from cdpengine.errors import EngineError, InvalidArgumentError, packages_named

if TYPE_CHECKING:
    from cdpengine import Page
    from cdpengine.act.observing.messages import MessageLog
    from cdpengine.debug import Recorder

_STOPPING = 2.0
"""Timeout for stopping the script of a command that has timed out, in seconds."""

_ENDING = 120.0
"""Timeout for a measurement to write its result, in seconds."""

RECORDING, MESSAGES = "recording", "log of messages"

_SUFFIXES: Mapping[str, str] = {
    "trace": ".json.gz",
    "profile": ".cpuprofile",
    "heap": ".heapsnapshot.gz",
    RECORDING: ".jsonl",
}

_TEXT_TYPES = ("text/", "application/json", "application/javascript", "application/xml", "image/svg")


# --- the wire ------------------------------------------------------------------------------------------------


async def _command(run: Performance, request: requests.Command) -> Any:
    session = run.actor.browser.session if request.browser else run.page.session
    try:
        with within(f"send {request.method[:80]}", run.left):
            return await session.call(request.method, request.params)
    except BaseException:
        if run.page_or_none is not None:
            await _stop_script(run.page)
        raise


async def _stop_script(page: Page) -> None:
    """Stop the script that keeps the page unresponsive, even if the request is cancelled."""
    with trio.move_on_after(_STOPPING, shield=True), suppress(EngineError):
        if await page.measure.unresponsive_for():
            await page.recover(timeout=_STOPPING)


async def _messages(run: Performance, request: requests.Messages) -> dict[str, Any]:
    opened = run.actor._scopes.get((MESSAGES, ""))
    if opened is None:
        opened = await open_scope(run, (MESSAGES, ""), _log_messages(run))
    log: MessageLog = opened.value
    found = log.newest(request.method, request.limit)
    if request.stop:
        await opened.end(run.left)
    return {"count": len(found), "messages": found}


@asynccontextmanager
async def _log_messages(run: Performance) -> AsyncIterator[MessageLog]:
    from cdpengine.act.observing.messages import MessageLog

    log = MessageLog()
    with run.actor.browser.instruments.attached(log):
        yield log


async def _start_recording(run: Performance, request: requests.StartRecording) -> dict[str, Any]:
    with packages_named():
        from cdpengine.debug import record
    path = await _place(run, "startRecording.path", RECORDING, request.path)
    await open_scope(run, (RECORDING, ""), record(run.actor.browser, path))
    return {"path": str(path)}


async def _stop_recording(run: Performance, _request: requests.StopRecording) -> dict[str, Any]:
    recorder: Recorder = await find_scope(run, (RECORDING, ""), "a startRecording request first").end(
        run.left
    )
    done = recorder.statistics()
    return {"path": str(recorder.path), "messages": done.messages, "lost": done.lost, "bytes": done.written}


async def _response_body(run: Performance, request: requests.ResponseBody) -> dict[str, Any]:
    await run.actor.watch(run.page, run.left)
    matches = url_test(request.url)
    found = [each for each in run.page.activity.requests if matches(each.url) and each.response is not None]
    if not found:
        raise InvalidArgumentError(
            what="responseBody.url",
            given=f"{request.url[:80]!r}, which matches no response of the page",
            expected="the URL of a response that a requests request lists",
        )
    response = found[-1].response
    assert response is not None
    described = {"url": describe_url(response.url), "status": response.status, "type": response.mime_type}
    if response.mime_type.startswith(_TEXT_TYPES) or response.mime_type.endswith(("+json", "+xml")):
        return {**described, "body": await response.text(timeout=run.left)}
    data = await response.body(timeout=run.left)
    return {**described, "bytes": len(data), "base64": to_plain(data)}


# --- resource use --------------------------------------------------------------------------------------------


async def _metrics(run: Performance, _request: requests.Metrics) -> dict[str, float]:
    return dict(await run.page.measure.metrics(timeout=run.left))


async def _start_measurement(run: Performance, request: requests.StartMeasurement) -> dict[str, Any] | None:
    if request.measurement == "coverage":
        await open_scope(run, _key(run, request.measurement), run.page.measure.coverage(timeout=_ENDING))
        return None
    path = await _place(run, "startMeasurement.path", request.measurement, request.path)
    measure = run.page.measure
    scope: AbstractAsyncContextManager[Any] = (
        measure.trace(path, overwrite=False, timeout=_ENDING)
        if request.measurement == "trace"
        else measure.profile(path, overwrite=False, timeout=_ENDING)
    )
    await open_scope(run, _key(run, request.measurement), scope)
    return {"path": str(path)}


async def _stop_measurement(run: Performance, request: requests.StopMeasurement) -> dict[str, Any]:
    opened = find_scope(run, _key(run, request.measurement), "a startMeasurement request first")
    return _DESCRIBE[request.measurement](await opened.end(run.left))


def _describe_trace(trace: Any) -> dict[str, Any]:
    report = trace.report
    return {
        "path": str(report.path),
        "bytes": report.size,
        "seconds": round(report.seconds, 3),
        "dataLost": report.data_lost,
    }


def _describe_profile(profiling: Any) -> dict[str, Any]:
    profile = profiling.profile
    return {
        "path": str(profiling.path),
        "bytes": len(profile.data),
        "samples": profile.samples,
        "seconds": round(profile.seconds, 3),
    }


def _describe_coverage(coverage: Any) -> dict[str, Any]:
    report = coverage.report
    texts = [("script", each) for each in report.scripts] + [("sheet", each) for each in report.sheets]
    return {
        "totalBytes": report.total_bytes,
        "usedBytes": report.used_bytes,
        "texts": [
            {
                "type": kind,
                "url": describe_url(each.url),
                "totalBytes": each.total_bytes,
                "usedBytes": each.used_bytes,
            }
            for kind, each in texts
        ],
        "gaps": [describe_url(each.url) for each in report.gaps],
    }


_DESCRIBE: Mapping[Measurement, Callable[[Any], dict[str, Any]]] = {
    "trace": _describe_trace,
    "profile": _describe_profile,
    "coverage": _describe_coverage,
}


async def _heap_snapshot(run: Performance, request: requests.HeapSnapshot) -> dict[str, Any]:
    path = await _place(run, "heapSnapshot.path", "heap", request.path)
    report = await run.page.measure.heap_snapshot(path, overwrite=False, timeout=run.left)
    return {"path": str(report.path), "bytes": report.size, "bytesBeforeCompression": report.written}


# --- between two requests ------------------------------------------------------------------------------------


def _key(run: Performance, measurement: str) -> tuple[str, str]:
    return measurement, run.page.target_id


async def _place(run: Performance, field: str, what: str, path: str | None) -> Path:
    """Return the file to write: the named one, or a new one in the folder of outputs."""
    if path is not None:
        return to_path(field, path)
    folder = run.actor.outputs
    if folder is None:
        raise InvalidArgumentError(what=field, given="nothing", expected="the path of a file")
    return await trio.to_thread.run_sync(_new_name, folder, what)


def _new_name(folder: Path, what: str) -> Path:
    taken = {each.name for each in folder.iterdir()}
    number = 1
    while (name := f"{what}-{number}{_SUFFIXES[what]}") in taken:
        number += 1
    return folder / name


PERFORM: Mapping[type[ActRequest], Callable[[Performance, Any], Awaitable[Any]]] = {
    requests.Command: _command,
    requests.Messages: _messages,
    requests.StartRecording: _start_recording,
    requests.StopRecording: _stop_recording,
    requests.ResponseBody: _response_body,
    requests.Metrics: _metrics,
    requests.StartMeasurement: _start_measurement,
    requests.StopMeasurement: _stop_measurement,
    requests.HeapSnapshot: _heap_snapshot,
}
"""The handler of each kind of request."""
