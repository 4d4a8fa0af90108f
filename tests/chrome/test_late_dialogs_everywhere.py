"""Late dialogs in every way in, compared with the pages' log. Each is reported once, to its own session."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer
from ways_in import WAYS, Way, open_way
from werkzeug import Request, Response

pytestmark = pytest.mark.chrome

OPEN = """
const log = (entry) => {
  const request = new XMLHttpRequest();
  request.open("POST", "/log", false);
  request.send(JSON.stringify(entry));
};
const show = (type, message) => log([type, message, window[type](message) ?? null]);
"""
PAGE = f"""<link rel=icon href="data:,"><button id=go>Go</button> <button id=leave>Leave</button> <button id=now>Now</button>
<iframe name=same src="/frame"></iframe> <iframe name=cross src="OTHER/frame"></iframe>
<script>{OPEN}
const plan = PLAN;
const open_ = (type, place, message) => {{
  if (place === "page") show(type, message);
  else if (place === "popup") window.open("/popup?" + new URLSearchParams({{ type, message }}));
  else frames[place].postMessage([type, message], "*");
}};
go.onclick = () => {{
  for (const [type, delay, place, message] of plan.shift()) setTimeout(() => open_(type, place, message), delay);
}};
now.onclick = () => show("confirm", "now");
leave.onclick = () => {{
  window.onbeforeunload = (event) => event.preventDefault();
  window.onpagehide = () => navigator.sendBeacon("/log", JSON.stringify(["beforeunload", "", true]));
  setTimeout(() => {{ location.href = "/left"; }}, 100);
}};
</script>"""
FRAME = f"<script>{OPEN} onmessage = (event) => show(...event.data);</script>frame"
POPUP = f"""<link rel=icon href="data:,"><script>{OPEN}
const given = new URLSearchParams(location.search);
show(given.get("type"), given.get("message"));
window.close();
</script>"""

Group = list[tuple[str, int, str, str]]
"""Dialogs that one click opens: type, delay in milliseconds, place and message."""

Dialog = tuple[str, str, bool]
"""The type, the message, and whether the answer was OK."""


class Site:
    """A site whose pages open dialogs according to a plan. `shown` is their log."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.shown: list[Dialog] = []
        server.clear()
        for path, html in {"/frame": FRAME, "/popup": POPUP, "/left": "<title>Left</title>left"}.items():
            server.expect_request(path).respond_with_data(html, content_type="text/html")
        server.expect_request("/log").respond_with_handler(self._log)

    def _log(self, request: Request) -> Response:
        kind, message, result = json.loads(request.data)
        answered = {
            "alert": True,
            "confirm": result is True,
            "prompt": result is not None,
            "beforeunload": True,
        }
        self.shown.append((kind, message, answered[kind]))
        return Response("")

    async def logged(self, count: int) -> None:
        """Wait until the pages have logged exactly this many dialogs. A page logs a dialog after its answer."""
        with trio.fail_after(10):
            while len(self.shown) < count:  # noqa: ASYNC110 - the server logs in another thread
                await trio.sleep(0.01)
        assert len(self.shown) == count

    def plan(self, path: str, plan: list[Group]) -> str:
        """Serve a page that opens one group of dialogs at each click, and return its URL."""
        html = PAGE.replace("PLAN", json.dumps(plan)).replace("OTHER", f"http://localhost:{self.server.port}")
        self.server.expect_request(path).respond_with_data(html, content_type="text/html")
        return self.server.url_for(path)


def dialogs_of(document: dict[str, Any]) -> list[Dialog]:
    given = document.get("effects", {}).get("dialogs", [])
    return [(each["type"], each["message"], each["accepted"]) for each in given]


async def click(way: Way, selector: str, session: str = "default") -> list[Dialog]:
    document = await way.ask({"kind": "click", "selector": selector, "diff": False}, session)
    assert document["ok"], document
    return dialogs_of(document)


async def collect(way: Way, count: int, session: str = "default") -> list[Dialog]:
    """Request repeatedly, two at a time, until this many dialogs were reported, then once more."""
    found: list[Dialog] = []

    async def ask(kind: str) -> None:
        found.extend(dialogs_of(await way.ask({"kind": kind}, session)))

    with trio.move_on_after(20):
        while len(found) < count:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask, "tabs")
                nursery.start_soon(ask, "snapshot")
    await ask("tabs")
    return found


TYPES = ("alert", "confirm", "prompt")


def group(delays: tuple[int, ...], places: tuple[str, ...]) -> Group:
    """Return every type with every delay and place. Equal dialogs differ only in the time of opening."""
    return [(kind, delay, place, place) for kind, delay, place in itertools.product(TYPES, delays, places)]


# Chrome dismisses dialogs that two processes open at the same moment, whatever the policy. The frame in
# another process therefore has its own group. `test_dialogs_of_two_processes.py` covers simultaneous dialogs.
EVERY = [group((0, 100, 1000), ("page", "same", "popup")), group((0, 100), ("cross", "popup"))]


@pytest.mark.parametrize("name", WAYS)
async def test_each_late_dialog_is_reported_once(
    name: str, httpserver: HTTPServer, shared_endpoint: str
) -> None:
    site = Site(httpserver)
    url = site.plan("/every", EVERY)
    async with open_way(name, shared_endpoint) as way:
        assert (await way.ask({"kind": "newTab", "url": url}))["ok"]
        found: list[Dialog] = []
        for each in EVERY:
            early = await click(way, "#go")
            found += early + await collect(way, len(each) - len(early))
        await site.logged(sum(map(len, EVERY)))
        assert Counter(found) == Counter(site.shown)
        # The next action reports only its own dialog.
        assert await click(way, "#now") == [("confirm", "now", False)]
        assert await click(way, "#leave") == []
        wait_left = await way.ask({"kind": "wait", "text": "left"})
        assert dialogs_of(wait_left) == [("beforeunload", "", True)], wait_left
        await site.logged(sum(map(len, EVERY)) + 2)
        assert site.shown[-1][0] == "beforeunload"
        assert dialogs_of(await way.ask({"kind": "tabs"})) == []


@pytest.mark.parametrize("name", WAYS)
async def test_sessions_get_their_own_dialogs(
    name: str, httpserver: HTTPServer, shared_endpoint: str
) -> None:
    random_ = random.Random(name)
    site = Site(httpserver)
    plans = {
        session: [
            (random_.choice(TYPES), random_.choice((0, 20, 50, 200)), random_.choice(places), session)
            for _ in range(8)
        ]
        for session, places in {"default": ("page", "same", "popup"), "other": ("cross", "popup")}.items()
    }
    urls = {session: site.plan(f"/{session}", [plan]) for session, plan in plans.items()}
    found: dict[str, list[Dialog]] = {session: [] for session in plans}
    async with open_way(name, shared_endpoint) as way:
        for session, url in urls.items():
            assert (await way.ask({"kind": "newTab", "url": url}, session))["ok"]

        async def use(session: str) -> None:
            found[session] += await click(way, "#go", session)
            found[session] += await collect(way, 8 - len(found[session]), session)

        async with trio.open_nursery() as nursery:
            for session in plans:
                nursery.start_soon(use, session)
        await site.logged(16)
        for session, own in found.items():
            assert Counter(own) == Counter(each for each in site.shown if each[1] == session), session
