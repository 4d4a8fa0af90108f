"""One run: one client drives all ways in, all reads follow, and the run is recorded both redacted and
unredacted.

Rule: the result is bytes by output name. This module judges nothing.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import attrs
import trio
import trio_websocket
from canaries import Canaries
from canary_exposures import look_at_all, replace_content
from canary_site import CanarySite
from canary_stage import Stage, Way
from canary_ways import fields, made_up, prepare, run_ways
from click.testing import CliRunner
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import debug
from cdpengine._json_values import to_plain
from cdpengine.cli.commands import commands
from cdpengine.cli.output import describe_error
from cdpengine.debug.recording.recorder import wire_logger
from cdpengine.debug.recording.traffic_recorder import LIMIT
from cdpengine.errors import EngineError


@attrs.define
class Outcome:
    """The result of one run. `outputs` are the shareable outputs, `control` the unredacted recording."""

    canaries: Canaries
    ways: Sequence[Way]
    measured: bool
    outputs: dict[str, bytes] = attrs.field(factory=dict)
    control: bytes = b""
    failures: list[str] = attrs.field(factory=list)


@asynccontextmanager
async def site_of(server: HTTPServer, canaries: Canaries) -> AsyncIterator[CanarySite]:
    """Serve the site, and the websocket of its page."""
    prepare(canaries)
    secrets = _Secrets(canaries)

    async def converse(request: trio_websocket.WebSocketRequest) -> None:
        socket = await request.accept()
        greeting = {"access_token": secrets["websocket_received"]}
        try:
            await socket.send_message(json.dumps(greeting))
            await socket.send_message(json.dumps({"access_token": secrets["websocket_binary"]}).encode())
            while True:
                await socket.get_message()
        except trio_websocket.ConnectionClosed:
            pass

    async with trio.open_nursery() as nursery:
        serve = trio_websocket.serve_websocket
        listening = await nursery.start(serve, converse, "127.0.0.1", 0, None)
        yield CanarySite(server, secrets, f"ws://127.0.0.1:{listening.port}/", fields(), made_up())
        nursery.cancel_scope.cancel()


class _Secrets(Mapping[str, str]):
    """The values of all canaries, by name, created on first use."""

    def __init__(self, canaries: Canaries) -> None:
        self._canaries = canaries

    def __getitem__(self, name: str) -> str:
        return self._canaries.all[name].text

    def __iter__(self) -> Iterator[str]:
        return iter(self._canaries.all)

    def __len__(self) -> int:
        return len(self._canaries.all)


@contextmanager
def logged(path: Path) -> Iterator[None]:
    """Write all log records of the engine, at DEBUG, to a file and nowhere else."""
    engine = logging.getLogger("cdpengine")
    handler = logging.FileHandler(path, encoding="utf-8", errors="surrogatepass")
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    before = engine.level, engine.propagate, wire_logger.level
    engine.addHandler(handler)
    engine.setLevel(logging.DEBUG)
    engine.propagate = False
    try:
        yield
    finally:
        engine.removeHandler(handler)
        handler.close()
        engine.level, engine.propagate, wire_logger.level = before
        engine.manager._clear_cache()  # type: ignore[attr-defined]


async def drive(
    browser: cdpengine.Browser, site: CanarySite, outcome: Outcome, folder: Path, name: str
) -> None:
    """Run all ways in with a browser, do all reads, and collect the engine's outputs.

    `name` is the recording's file name. If it is to be compressed, the recording keeps all payloads.
    """
    files = folder / "files"
    files.mkdir()
    everything, recording = folder / "everything.jsonl", folder / name
    limit = 0 if recording.suffix == ".zst" else LIMIT
    async with (
        browser.new_context(downloads=files) as context,
        debug.record(browser, everything, unredacted=True, limit=0),
        debug.record(browser, recording, limit=limit),
    ):
        page = await context.new_page(activity=cdpengine.ActivityOptions(bodies=True))
        stage = Stage(page, site, files, outcome.canaries, outcome.ways)
        for domain in ("Network", "DOMStorage", "Log", "IndexedDB"):
            await page.session.call(f"{domain}.enable")
        await run_ways(stage, before=True)
        await page.goto(site.url)
        await page.wait_for(expression="document.title === 'done'")
        outcome.failures += [f"the page: {failure}" for failure in await page.evaluate("failures")]
        await run_ways(stage, before=False)
        await look_at_all(stage, measured=outcome.measured)
        archive = await page.activity.har()
        await replace_content(stage)
        await page.close()
    outcome.failures += stage.failures
    outcome.outputs["live HAR"] = json.dumps(archive, ensure_ascii=False, indent=1).encode()
    outcome.outputs[f"recording ({name})"] = recording.read_bytes()
    outcome.outputs["errors"] = _errors(stage.errors)
    outcome.control = everything.read_bytes()


def _errors(errors: Iterable[BaseException]) -> bytes:
    lines = []
    for error in errors:
        kind = type(error).__name__
        chain = "".join(traceback.format_exception_only(error)) + repr(error)
        lines.append(f"{kind}.str {str(error)!r}")
        lines.append(f"{kind}.printed {chain!r}")
        if isinstance(error, EngineError):
            lines.append(f"{kind}.json {json.dumps(to_plain(describe_error(error)), ensure_ascii=False)}")
        if error.__cause__ is not None:
            lines.append(f"{kind}.cause {error.__cause__!r}")
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def derive(outcome: Outcome, recording: Path, folder: Path) -> None:
    """Run every command that derives output from a recording.

    The recording is compared with its own first half.
    """
    other = folder / "half.jsonl"
    lines = recording.read_bytes().splitlines(keepends=True)
    other.write_bytes(b"".join(lines[: len(lines) // 2]))
    for name, arguments in {
        "recording show --full": ["show", "--full", str(recording)],
        "recording stats": ["stats", str(recording)],
        "recording stats --json": ["stats", "--json", str(recording)],
        "recording diff": ["diff", "--full", str(recording), str(other)],
        "recording diff --json": ["diff", "--json", str(recording), str(other)],
    }.items():
        outcome.outputs[name] = run_command("recording", *arguments)
    for form in ("html", "perfetto", "har"):
        made = folder / f"exported.{form}"
        output = run_command("recording", "export", f"--{form}", str(recording), "-o", str(made))
        outcome.outputs[f"recording export --{form}"] = made.read_bytes()
        outcome.outputs[f"recording export --{form}, output"] = output


def run_command(*arguments: str, script: str | None = None) -> bytes:
    """Run a command of the command line in this process, and return everything that it prints."""
    done = CliRunner().invoke(commands, list(arguments), input=script)
    if done.exception is not None and not isinstance(done.exception, SystemExit | EngineError):
        text = f"{type(done.exception).__name__}: {done.exception}"
        return done.output_bytes + text.encode()
    error_text = "" if not isinstance(done.exception, EngineError) else f"Error: {done.exception}"
    return done.output_bytes + error_text.encode("utf-8", "surrogatepass")
