"""`cdpengine map` with a browser: killed, interrupted, continued; and each ready function on loopback pages."""

from __future__ import annotations

import base64
import json
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from command_line import BOUND, COMMAND, run_here
from map_runs import lines_of, outcomes_of
from pools import wait_until_idle
from pytest_httpserver import HTTPServer
from rounds import slow_but
from terminals import Terminal
from werkzeug import Request, Response

import cdpengine
from cdpengine.pool import BrowserPool, JobResult
from cdpengine.pool.functions import READY

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(120)]

TASKS = """
async def title(page, item):
    await page.goto(item)
    if item.endswith("7"):
        raise LookupError(f"no luck with {item}")
    return await page.title()
"""
COUNT = 12


class Site:
    """Pages that count their visitors. They respond while `gate` is set."""

    def __init__(self, server: HTTPServer) -> None:
        self.visits: Counter[int] = Counter()
        self.gate = threading.Event()
        self.gate.set()
        self._changed = threading.Condition()
        self.url = server.url_for("/page/")
        server.expect_request(re.compile("/page/.*")).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        number = int(request.path.rpartition("/")[2])
        with self._changed:
            self.visits[number] += 1
            self._changed.notify_all()
        self.gate.wait(BOUND)
        return Response(
            f"<link rel=icon href='data:,'><title>page {number}</title>", content_type="text/html"
        )

    def write_inputs(self, count: int) -> None:
        Path("in.txt").write_text("".join(f"{self.url}{number}\n" for number in range(1, count + 1)))

    def wait_for_visits(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: sum(self.visits.values()) >= count, BOUND), self.visits


@pytest.fixture
def site(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site, a file of inputs with its addresses, and a function that visits them."""
    site = Site(httpserver)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visiting.py").write_text(TASKS)
    site.write_inputs(COUNT)
    yield site
    site.gate.set()


def start(*options: str, function: str = "visiting.py:title") -> subprocess.Popen[str]:
    command = [*COMMAND, "map", function, "in.txt", "-o", "o.jsonl", "--pages", "4", *options]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def recorded() -> set[int]:
    """Return the inputs with a complete line, or one that lacks only its newline. Ignore torn lines."""
    found = set()
    for name in ("o.jsonl", "o.failures.jsonl"):
        path = Path(name)
        for line in path.read_bytes().split(b"\n") if path.exists() else ():
            try:
                found.add(json.loads(line)["line"])
            except ValueError:
                continue
    return found


def kill_at_some_moment(command: subprocess.Popen[str], site: Site, chance: random.Random) -> None:
    """Kill it after this many visits or this much output, unless it ends first."""
    output, by_visits = Path("o.jsonl"), chance.random() < 0.5

    def measure() -> int:
        if by_visits:
            return sum(site.visits.values())
        return output.stat().st_size if output.exists() else 0

    until = measure() + (chance.randrange(1, 5) if by_visits else chance.randrange(1, 600))
    deadline = time.monotonic() + BOUND
    while command.poll() is None and measure() < until:
        assert time.monotonic() < deadline, site.visits
        time.sleep(0.001)
    command.kill()
    command.communicate()


@pytest.mark.parametrize(("count", "kills"), [(COUNT, 1), pytest.param(60, 8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("once", slow_but([False, True], [True]), ids=["again", "once"])
def test_killed_and_continued_nothing_is_lost_or_recorded_twice(
    site: Site, count: int, kills: int, *, once: bool
) -> None:
    site.write_inputs(count)
    options = ["--once"] if once else []
    chance = random.Random(kills)
    done: dict[int, int] = {}
    for _ in range(kills):
        kill_at_some_moment(start(*options), site, chance)
        assert {number: site.visits[number] for number in done} == done
        done = {number: site.visits[number] for number in recorded()}
    with start(*options) as last:
        _, errors = last.communicate(timeout=BOUND)
    assert last.returncode == 1, errors  # those of 7 failed
    assert outcomes_of(Path("o.jsonl")) == dict.fromkeys(range(1, count + 1), 1)
    assert {number: site.visits[number] for number in done} == done
    if once:
        assert set(site.visits.values()) == {1}
    failed = {each["line"]: each["error"]["type"] for each in lines_of(Path("o.failures.jsonl"))}
    interrupted = {line for line, kind in failed.items() if kind == "Interrupted"}
    assert {line for line in failed if line not in interrupted} == set(range(7, count, 10)) - interrupted
    assert once or not interrupted
    values = {each["line"]: each["value"] for each in lines_of(Path("o.jsonl"))}
    assert values == {number: f"page {number}" for number in range(1, count + 1) if number not in failed}


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_signal_leaves_complete_files_and_rest_for_next_run(site: Site, number: int, status: int) -> None:
    site.gate.clear()
    with start("--failures", "bad.jsonl") as command:
        site.wait_for_visits(4)
        command.send_signal(number)
        output, errors = command.communicate(timeout=BOUND)
    assert (command.returncode, output) == (status, "")
    assert "o.jsonl: 0 done in" in errors
    assert f"; {COUNT} left: the same command continues" in errors
    assert lines_of(Path("o.jsonl")) == []
    site.gate.set()
    with start("--failures", "bad.jsonl", "--json") as command:
        output, errors = command.communicate(timeout=BOUND)
    assert command.returncode == 1
    summary = json.loads(output)
    assert (summary["done"], summary["failed"], summary["left"]) == (COUNT - 1, 1, 0)
    assert summary["failures"] == "bad.jsonl"
    assert {each["line"] for each in lines_of(Path("bad.jsonl"))} == {7}
    with start("--failures", "bad.jsonl", "--browser", "/no/browser") as command:  # it no longer needs any
        _, errors = command.communicate(timeout=BOUND)
    assert command.returncode == 1
    assert "o.jsonl: 0 done in" in errors
    assert f"; {COUNT - 1} before; 1 failed (bad.jsonl, 1 of them before)" in errors


def test_terminal_shows_progress(site: Site, tmp_path: Path) -> None:
    arguments = [*COMMAND, "map", "links", "in.txt", "-o", "o.jsonl", "--pages", "4"]
    terminal = Terminal(arguments, tmp_path / "state")
    try:
        terminal.expect(rf"\d+ of {COUNT}, \d+\.\d a second, 0 failed")
        terminal.expect(rf"o\.jsonl: {COUNT} done in [\d.]+ s, [\d.]+ a second\n")
        assert terminal.end() == 0
    finally:
        terminal.close()


# --- ready functions --------------------------------------------------------------------------------------------

PAGE = """<!doctype html><title>Shop</title><link rel=icon href="data:,"><h1>Fruit</h1>
<a href="/b?x=1#top">one</a> <a href="b?x=1#top">the same</a> <a href="http://other.test/">other</a>
<a href="mailto:a@b.test">mail</a> <a href="javascript:void 0">script</a> <a href="http://[">broken</a> <a>none</a>
<svg><a href="/svg"><text>vector</text></a></svg><map><area href="/area"></map><base href="/folder/">"""


@pytest.fixture
async def ready_results(httpserver: HTTPServer) -> dict[str, dict[str, JobResult[Any]]]:
    """Results of each ready function for a page, a missing page and an address without a server."""
    httpserver.expect_request("/shop").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/gone").respond_with_data(
        "<h1>Gone</h1>", status=410, content_type="text/html"
    )
    items = {
        "page": httpserver.url_for("/shop"),
        "gone": {"url": httpserver.url_for("/gone")},
        "wrong": {"n": 1},
    }
    found: dict[str, dict[str, JobResult[Any]]] = {}
    async with BrowserPool(pages=4) as pool:

        async def do(name: str) -> None:
            ready = READY[name]
            results = pool.map(ready.function, list(items.values()), ordered=True, **ready.options)
            found[name] = dict(zip(items, [result async for result in results], strict=True))

        async with trio.open_nursery() as nursery:
            for name in READY:
                nursery.start_soon(do, name)
    return found


async def test_ready_functions(
    ready_results: dict[str, dict[str, JobResult[Any]]], httpserver: HTTPServer
) -> None:
    values = {name: results["page"].unwrap() for name, results in ready_results.items()}
    assert values["markdown"].startswith("# Fruit\n\n[one](")
    assert values["snapshot"].startswith('- heading "Fruit" [ref=')
    base = httpserver.url_for("/")
    assert values["links"] == [
        f"{base}b?x=1#top", f"{base}folder/b?x=1#top", "http://other.test/", f"{base}svg", f"{base}area",
    ]  # fmt: skip
    assert values["screenshot"].startswith(b"\x89PNG\r\n")
    requests = {
        entry["request"]["url"]: entry["response"]["status"] for entry in values["har"]["log"]["entries"]
    }
    assert requests[httpserver.url_for("/shop")] == 200
    assert "Fruit" in json.dumps(values["har"])
    for name, results in ready_results.items():
        assert isinstance(results["wrong"].error, cdpengine.errors.InvalidArgumentError), name
        if name == "har":
            entries = results["gone"].unwrap()["log"]["entries"]
            assert entries[0]["response"]["status"] == 410
        else:
            assert isinstance(results["gone"].error, cdpengine.errors.NavigationFailedError), name
            assert "the server answered with HTTP status 410" in str(results["gone"].error)


async def test_ready_functions_are_cancelled(site: Site) -> None:
    site.gate.clear()
    async with BrowserPool(pages=len(READY)) as pool:
        async with trio.open_nursery() as nursery:
            for number, ready in enumerate(READY.values()):
                nursery.start_soon(partial(pool.run, ready.function, f"{site.url}{number}", **ready.options))
            await trio.to_thread.run_sync(site.wait_for_visits, len(READY))
            nursery.cancel_scope.cancel()
        await wait_until_idle(pool)
        site.gate.set()
        assert (await pool.run(READY["markdown"].function, "data:text/html,<h1>Next")).unwrap() == "# Next"


def test_pictures_are_files_or_in_their_line(
    httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpserver.expect_request("/shop").respond_with_data(PAGE, content_type="text/html")
    (tmp_path / "in.jsonl").write_text(json.dumps({"url": httpserver.url_for("/shop")}))
    monkeypatch.chdir(tmp_path)
    done = run_here("map", "screenshot", "in.jsonl", "-o", "a.jsonl")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    (line,) = lines_of(tmp_path / "a.jsonl")
    picture = base64.b64decode(line["value"])
    assert picture.startswith(b"\x89PNG\r\n")
    done = run_here("map", "har", "in.jsonl", "-o", "b.jsonl", "--files", "files")
    assert done.returncode == 0, done.stderr
    (line,) = lines_of(tmp_path / "b.jsonl")
    assert line["value"] == f"files/1-{line['digest']}.har"
    assert json.loads((tmp_path / line["value"]).read_text())["log"]["entries"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.jsonl", "a.jsonl.journal", "b.jsonl", "b.jsonl.journal", "files", "in.jsonl",
    ]  # fmt: skip
