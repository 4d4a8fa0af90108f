"""No secret leaves the engine: all ways in, all outputs, all encodings.

Rule: one run for each client enters its canaries and produces every output; the tests only read. A parallel
unredacted recording must contain each canary, which proves that its way in works.
"""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from canaries import Canaries, Finder, report
from canary_run import Outcome, derive, drive, logged, site_of
from canary_stage import WAYS
from canary_ways import ways_of
from pytest_httpserver import HTTPServer
from rounds import rounds

import cdpengine
from cdpengine import debug
from cdpengine.cli.demo import Tour, serve_shop
from cdpengine.debug.recording_format import Line

pytestmark = pytest.mark.chrome

BOUND = 300
"""Seconds after which a run counts as hung."""


@asynccontextmanager
async def proxy_command(upstream: str, recording: Path, said: list[bytes]) -> AsyncIterator[str]:
    """Run `cdpengine proxy` in front of an endpoint, and append its output to `said` at the end."""
    command = [sys.executable, "-m", "cdpengine", "proxy", "--listen", "0", "--upstream", upstream]
    process = await trio.lowlevel.open_process(
        [*command, "--record", str(recording)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    printed = bytearray()
    try:
        while b"\n" not in printed:
            printed += await process.stdout.receive_some()

        async def read(task_status: trio.TaskStatus[None]) -> None:
            assert process.stdout is not None
            task_status.started()
            async for piece in process.stdout:
                printed.extend(piece)

        async with trio.open_nursery() as nursery:
            await nursery.start(read)
            yield printed.split()[0].decode()
            process.terminate()
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 20):
            if process.poll() is None:
                process.kill()
            await process.wait()
        said.append(bytes(printed))


async def through_proxies(server: HTTPServer, folder: Path) -> Outcome:
    """Over websockets: through the proxy command to a cassette being recorded, with all log output."""
    outcome = Outcome(Canaries(), ways_of("websocket"), measured=bool(rounds(0, 1)))
    said: list[bytes] = []
    with logged(folder / "log.txt"):
        async with (
            site_of(server, outcome.canaries) as site,
            debug.cassette(folder / "cassette.jsonl") as cassette,
            proxy_command(cassette.endpoint, folder / "proxy.jsonl", said) as endpoint,
            cdpengine.connect(endpoint) as browser,
        ):
            await drive(browser, site, outcome, folder, "own.jsonl")
    outcome.outputs["log"] = (folder / "log.txt").read_bytes()
    outcome.outputs["proxy's lines"] = said[0]
    outcome.outputs["proxy's recording"] = (folder / "proxy.jsonl").read_bytes()
    outcome.outputs["cassette"] = (folder / "cassette.jsonl").read_bytes()
    derive(outcome, folder / "own.jsonl", folder)
    return outcome


async def over_the_pipe(server: HTTPServer, folder: Path) -> Outcome:
    outcome = Outcome(Canaries(), ways_of("pipe"), measured=True)
    async with (
        site_of(server, outcome.canaries) as site,
        cdpengine.launch(transport="pipe") as browser,
    ):
        await drive(browser, site, outcome, folder, "own.jsonl.zst")
    return outcome


RUNS = {"websocket": through_proxies, "pipe": over_the_pipe}

OUTPUTS = {
    "websocket": (
        "recording (own.jsonl)", "live HAR", "errors", "log", "proxy's lines", "proxy's recording", "cassette",
        "recording show --full", "recording stats", "recording stats --json", "recording diff", "recording diff --json",
        "recording export --html", "recording export --perfetto", "recording export --har",
    ),
    "pipe": ("recording (own.jsonl.zst)", "live HAR", "errors"),
}  # fmt: skip


class Runs:
    """The runs' outcomes. Each run starts when a test first needs it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, tuple[Outcome, Finder] | BaseException] = {}

    def get(self, client: str) -> tuple[Outcome, Finder]:
        if client not in self._known:
            self._known[client] = self._run(client)
        known = self._known[client]
        if isinstance(known, BaseException):
            raise known
        return known

    def _run(self, client: str) -> tuple[Outcome, Finder] | BaseException:
        folder = self._folder / client
        folder.mkdir()
        server = HTTPServer(host="127.0.0.1", port=0, threaded=True)
        server.start()
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        try:
            outcome = trio.run(_bounded, RUNS[client], server, folder)
        except Exception as error:  # noqa: BLE001 - raised in each test that needs the run
            return error
        finally:
            server.clear()
            server.stop()
        return outcome, Finder(outcome.canaries.all.values())


async def _bounded(run, server: HTTPServer, folder: Path) -> Outcome:  # type: ignore[no-untyped-def]
    with trio.fail_after(BOUND):
        outcome: Outcome = await run(server, folder)
    return outcome


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("canaries"))


@pytest.mark.timeout(BOUND + 60)
@pytest.mark.parametrize("client", RUNS)
def test_every_way_in_is_effective(runs: Runs, client: str) -> None:
    outcome, finder = runs.get(client)
    assert outcome.failures == []
    quiet = {each.name for each in WAYS if not each.crosses or each not in outcome.ways}
    assert finder.missing(outcome.control, set(outcome.canaries.all) - quiet - {"download_content"}) == set()
    assert set(outcome.outputs) >= set(OUTPUTS[client])


@pytest.mark.timeout(BOUND + 60)
@pytest.mark.parametrize(
    ("client", "output"),
    [(client, output) for client, outputs in OUTPUTS.items() for output in outputs],
)
def test_output_contains_no_canary(runs: Runs, client: str, output: str) -> None:
    outcome, finder = runs.get(client)
    leaks = finder.find(outcome.outputs[output])
    names = sorted({leak.name for leak in leaks})
    assert not leaks, f"{len(names)} of {len(outcome.canaries.all)} ways in leak:\n{report({output: leaks})}"


# --- nothing but secrets is removed ------------------------------------------------------------------------------

ENTERED = re.compile(r"SLOW10")
"""The strings that the demo types."""

KEY_FIELDS = {
    "text",
    "unmodifiedText",
    "key",
    "code",
    "keyIdentifier",
    "windowsVirtualKeyCode",
    "nativeVirtualKeyCode",
}


def differences(
    first: Any, second: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Return the positions at which two messages differ."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        for key in first:
            yield from differences(first[key], second[key], (*path, key))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for one, other in zip(first, second, strict=True):
            yield from differences(one, other, (*path, "[]"))
    elif first != second:
        yield path, first, second


def withheld_by_rule(line: Line, span: str, path: tuple[str, ...], whole: Any) -> bool:
    """Return whether a recording may omit the string: it was typed, passed to a script, or returned by one."""
    if line.m.startswith("Input.dispatchKeyEvent") and path[-1] in KEY_FIELDS:
        return True
    if isinstance(whole, str) and ENTERED.search(whole):
        return True
    of_script = line.m in ("Runtime.evaluate", "Runtime.callFunctionOn") and span.startswith("page.evaluate")
    return of_script and (path[:2] == ("params", "arguments") or path[:2] == ("result", "result"))


async def test_demo_recording_omits_only_entered_values(tmp_path: Path) -> None:
    redacted, everything = tmp_path / "redacted.jsonl", tmp_path / "everything.jsonl"

    @asynccontextmanager
    async def recorded() -> AsyncIterator[cdpengine.Browser]:
        async with (
            cdpengine.launch() as browser,
            debug.record(browser, redacted, limit=0),
            debug.record(browser, everything, limit=0, unredacted=True),
        ):
            yield browser

    async def done(_: cdpengine.Page) -> None:
        await trio.lowlevel.checkpoint()

    shown: list[object] = []
    tour = Tour(on_step=shown.append, on_snapshot=shown.append, before_close=done)
    with serve_shop() as url:
        await tour.run(recorded(), url)
    with debug.open_recording(redacted) as one, debug.open_recording(everything) as other:
        # Only the redacted recording has digests to compare entered strings by. It also closes after the
        # other one, so only it contains the messages in between.
        earlier, later = (
            [line for line in each if line.k not in ("entered", "end")] for each in (one, other)
        )
    assert len(earlier) >= len(later)
    pairs = list(zip(earlier, later, strict=False))
    spans: dict[int, str] = {}
    taken, kept = [], 0
    for line, whole in pairs:
        assert (line.k, line.m, line.id, line.name, line.url) == (
            whole.k, whole.m, whole.id, whole.name, whole.url
        )  # fmt: skip
        spans.setdefault(line.span, line.name)
        if not bytes(line.msg) or (line.k == "reply" and not line.m):
            continue  # for a response to a command from before the recording, no secrets are known
        kept += 1
        for path, made, was in differences(msgspec.json.decode(line.msg), msgspec.json.decode(whole.msg)):
            if not withheld_by_rule(line, spans.get(line.span, ""), path, was):
                taken.append(
                    f"{line.k} {line.m} [{spans.get(line.span)}] {'.'.join(path)}: {was!r:.200} became {made!r:.200}"
                )
    assert kept > 200
    assert not taken, "taken although no secret:\n" + "\n".join(taken)
    assert ENTERED.search(everything.read_text())
    # A placeholder that the page shows before any input is the page's own text until then.
    lines = redacted.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if '"m":"Input.dispatchKeyEvent"' in line)
    assert not ENTERED.search("\n".join(lines[first:]))
