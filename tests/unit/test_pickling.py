"""Objects sent between processes: every public class pickles as a value, or refuses and names what to send
instead.
"""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest
from public_names import ENGINE

import cdpengine
import cdpengine.cluster
import cdpengine.pool
from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine._activity.exchange import Exchange
from cdpengine._activity.request import Request, Response, request_of
from cdpengine._activity.request_state import Following, RequestState
from cdpengine._history import Records
from cdpengine._protocol.domains import network, runtime
from cdpengine.cluster.sending import pack
from cdpengine.errors import EngineError, InvalidArgumentError, SessionGoneError

PUBLIC: dict[str, type] = {
    f"{package.__name__}.{name}": kind
    for package in (*ENGINE, cdpengine.pool, cdpengine.cluster)
    for name in package.__all__
    if inspect.isclass(kind := getattr(package, name))
    and not issubclass(kind, BaseException)  # covered by test_errors.py
    and not issubclass(kind, dict)
}

STAY = {
    "Binding", "BodyStream", "Browser", "BrowserCluster", "BrowserContext", "BrowserMeasure", "BrowserPool", "Budget",
    "Connection", "ContextEmulation", "ContextStorage", "Coverage", "Dialogs", "DocumentStorage", "Download",
    "EventStream", "Expected", "ExpectedFileChooser", "Frame", "FrameLocator", "InterceptedResponse", "JSHandle", "JobResults",
    "HarArchive", "HttpClient", "Keyboard", "Locator", "LocatorAssertions", "Mouse", "Network", "OriginStorage", "Page", "PageActivity", "PageAssertions",
    "PageElements",
    "PageEmulation", "PageMeasure", "PagePictures", "PageStorage", "PageWindow", "Profiling", "Route",
    "PageScripts", "RouteRegistration", "ScreencastFrames", "Scripts", "Session", "Touch", "Trace",
    "MessageStream", "ServerConnection", "WebSocketRoute", "WebSocket", "Worker",
    "DownloadEvent", "WorkerEnded", "WorkerStarted", "PageClock", "PageEvents", "PopupEvent",
}  # fmt: skip
"""Classes that belong to a connection, a page or a task. All other classes are values."""


class LiveSession:
    """A session of a page, as values hold it. It cannot be pickled."""

    target_type = "page"
    target_id = "T1"
    documents_shown = 0

    def __reduce__(self) -> str:
        raise AssertionError("a session was pickled")


def request() -> Request:
    sent = network.RequestWillBeSent(
        request_id="R1",
        request=network.Request(url="https://example.com/a", method="GET", headers={"A": "b"}),
        type="Document",
    )
    exchange = Exchange(sent, response=network.Response(status=200, status_text="OK", headers={"C": "d"}))
    exchange.finished = 2.0
    exchange.state = RequestState(exchange, LiveSession(), Following())  # type: ignore[arg-type]
    return request_of(exchange.state)


def response() -> Response:
    made = request().response
    assert made is not None
    return made


def message() -> ConsoleMessage:
    event = runtime.ConsoleAPICalled(type="log", args=[runtime.RemoteArgument(type="string", value="said")])
    return ConsoleMessage(event, LiveSession())  # type: ignore[arg-type]


def page_error() -> PageError:
    event = runtime.ExceptionThrown(exception_details=runtime.ThrownDetails(text="thrown"))
    return PageError(event, LiveSession())  # type: ignore[arg-type]


MADE: dict[str, Callable[[], Any]] = {
    "Request": request,
    "Response": response,
    "RequestEnded": lambda: cdpengine.network.RequestEnded(request()),
    "ConsoleMessage": message,
    "PageError": page_error,
    "BrowserWorker": lambda: cdpengine.cluster.BrowserWorker(browsers=2, pages=3),
    "Event": lambda: cdpengine.Event("Page.loadEventFired", "S1", b'{"timestamp":1}'),
    "BoundedHistory": lambda: cdpengine.network.BoundedHistory(Records(3)),
    "Dialog": lambda: cdpengine.Dialog("alert", "hello", "https://example.com/", page=LiveSession()),
    "LaunchedBrowsers": lambda: cdpengine.pool.LaunchedBrowsers(2, options={"headless": True}),
    "RemoteBrowsers": lambda: cdpengine.pool.RemoteBrowsers("ws://127.0.0.1:1/?token=t", headers={"A": "b"}),
    "BrowserLimits": lambda: cdpengine.pool.BrowserLimits(leases=3, age=5.0),
    "KeepBodies": lambda: cdpengine.network.KeepBodies("**/*.js"),
    "ActivityOptions": lambda: cdpengine.ActivityOptions(bodies=cdpengine.network.KeepBodies("**/*.js")),
    "Geolocation": lambda: cdpengine.emulation.Geolocation(1.0, 2.0),
    "Proxy": lambda: cdpengine.Proxy("http://127.0.0.1:8080", bypass=("a",)),
    "Option": lambda: cdpengine.Option(label="a"),
    "TargetInfo": lambda: cdpengine.protocol.TargetInfo("T1"),
    "PageMetrics": lambda: cdpengine.measure.PageMetrics({"Nodes": 3.0}),
    "JobResult": lambda: cdpengine.pool.JobResult(1, "item", "value", None, (example("Attempt"),)),
    "ActionOutcome": lambda: cdpengine.ActionOutcome(
        "click", "e1", dialogs=(MADE["Dialog"](),), healed=example("Ref"), popup=example("PopupOpened")
    ),
    "Navigation": lambda: cdpengine.Navigation(
        "https://example.com/", 200, (), False, "text/html", False, "L1", MADE["Response"]()
    ),
}
"""Constructors of values that need more than one value for each field."""


def example(name: str) -> Any:
    """Return an object of a public class with all its fields set."""
    if name in MADE:
        return MADE[name]()
    kind: type[Any] = next(kind for full, kind in PUBLIC.items() if full.rpartition(".")[2] == name)
    if issubclass(kind, msgspec.Struct):
        return kind()
    return kind(
        **{
            field.alias: fill(str(field.type), field.name)
            for field in attrs.fields(kind)
            if field.init and (field.default is attrs.NOTHING or not field.name.startswith("_"))
        }
    )


def fill(kind: str, name: str) -> Any:
    """Return a value for a field, by its annotation."""
    first = kind.split(" | ", maxsplit=1)[0]
    simple: dict[str, Any] = {
        "int": 7, "float": 1.5, "bool": True, "str": name, "bytes": b"\0data", "Path": Path("/a/b"), "object": name,
        "Any": name, "EngineError": SessionGoneError("t", "why"), "Exception": ValueError("why"), "Ranges": ((1, 2),),
    }  # fmt: skip
    if first in simple:
        return simple[first]
    if found := re.match(r"(tuple|Sequence|list|frozenset|Mapping|dict|Literal)\[(.*)\]$", first):
        outer, inner = found[1], found[2]
        if outer == "Literal":
            return re.split(r"['\"]", inner)[1]
        if outer in ("Mapping", "dict"):
            key, _, value = inner.partition(", ")
            return {fill(key, "key"): fill(value, "value")}
        each = [fill(inner.removesuffix(", ..."), name)]
        return {"tuple": tuple, "Sequence": tuple, "frozenset": frozenset, "list": list}[outer](each)
    names = {full.rpartition(".")[2] for full in PUBLIC}
    if first in names:
        return example(first)
    if kind.endswith("| None"):
        return None
    return name


@pytest.mark.parametrize("name", PUBLIC, ids=lambda name: name.removeprefix("cdpengine."))
def test_every_public_class_pickles_or_refuses(name: str) -> None:
    kind = PUBLIC[name]
    if kind.__name__ in STAY:
        live: Any = object.__new__(kind)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match=rf"cannot pickle {kind.__name__}: .* Send .* instead"):
                pickle.dumps(live, protocol)
        with pytest.raises(
            InvalidArgumentError, match=f"the value: got a value that cannot be sent .*{kind.__name__}"
        ):
            pack("the value", [live])
        return
    value = example(kind.__name__)
    again = pickle.loads(pickle.dumps(value))
    assert type(again) is kind
    assert repr(again) == repr(value)
    assert pickle.loads(pack("the value", value)) is not None


def test_every_class_that_stays_is_a_public_one() -> None:
    assert {full.rpartition(".")[2] for full in PUBLIC} >= STAY


async def test_a_request_keeps_its_data_and_asks_no_page() -> None:
    received = pickle.loads(pickle.dumps(response()))
    assert (received.status, received.ok, received.headers) == (200, True, {"C": "d"})
    assert (received.request.url, received.request.method) == ("https://example.com/a", "GET")
    assert received.request.response is not None
    with pytest.raises(cdpengine.errors.BodyUnavailableError, match="a copy, in another process"):
        await received.body()


async def test_a_console_message_keeps_its_data() -> None:
    again = pickle.loads(pickle.dumps(message()))
    assert (again.text, again.args, again.target_type) == ("said", ("said",), "page")
    assert await again.values() == ("said",)
    error = pickle.loads(pickle.dumps(page_error()))
    assert (error.message, error.value) == ("thrown", page_error().value)


def test_a_dialog_is_sent_without_its_page() -> None:
    again = pickle.loads(pickle.dumps(MADE["Dialog"]()))
    assert again.page is None
    assert again.message == "hello"


def test_every_error_of_the_engine_pickles() -> None:
    """test_errors.py walks over all errors. This test ensures that its list is complete."""
    kinds = {
        kind
        for kind in vars(cdpengine.errors).values()
        if inspect.isclass(kind) and issubclass(kind, EngineError)
    }
    assert {kind.__name__ for kind in kinds} <= set(cdpengine.errors.__all__)
