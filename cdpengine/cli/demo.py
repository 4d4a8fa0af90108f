"""`cdpengine demo`: a tour of the engine on a small shop, served on loopback.

Rule: a step reports success only after the page has confirmed it; a failed step ends the tour. The tour prints
nothing: it reports each step to the command, which prints. The server serves only the files of demo_site/, and
ends with its `with` block.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import TYPE_CHECKING

import attrs
import click
import trio

from cdpengine.cli.options import Failed, record_options
from cdpengine.cli.output import safe_console, say
from cdpengine.errors import ConnectionLostError, EngineError, EvaluationTimeoutError, SessionGoneError
from cdpengine.errors.texts import escape_line, escape_lines

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from rich.console import Console

    from cdpengine import Browser, Page, Snapshot


MOST_LINES = 22
"""Number of printed lines of the snapshot; the rest is counted."""


PLAIN_WIDTH = 110
"""Width of the summary if the output is no terminal, in columns."""


@click.command(short_help="See, click, type, hover and evaluate on a demo page.")
@click.option("--headful", is_flag=True, help="Show the browser's window.")
@click.option(
    "--keep-open", is_flag=True, help="Keep browser and shop open after the last step, until Ctrl-C."
)
@click.option(
    "--browser",
    "executable",
    metavar="PATH|CHANNEL",
    help="The browser to start: a path, or chrome, chromium, edge, brave.",
)
@record_options
def demo(headful: bool, keep_open: bool, executable: str | None) -> None:
    """See, click, type, hover and evaluate on a small shop page, and survive a script that never ends.

    This command serves the page on loopback. It checks each step against the page's state and
    prints it with its time. If a step fails, the exit status is 1.

    \b
    Example:
      cdpengine demo --headful --keep-open
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    import cdpengine
    from cdpengine.cli.demo import StepFailed, Tour, serve_shop

    console = safe_console(
        highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PLAIN_WIDTH
    )
    tour = Tour(
        on_step=lambda step: _print_step(console, step),
        on_snapshot=lambda text: _print_snapshot(console, text),
        before_close=_keep_open if keep_open else _close_now,
    )
    succeeded = True
    with serve_shop() as url:
        console.print(f"A shop is open at {url}")
        browser = cdpengine.launch(executable=executable, headless=not headful)
        try:
            trio.run(tour.run, browser, url)
        except StepFailed:
            succeeded = False
    _print_summary(console, tour.steps, succeeded=succeeded)
    if not succeeded:
        raise Failed


def _print_step(console: Console, step: Step) -> None:
    from rich.markup import escape

    mark = "[green]ok[/]    " if step.succeeded else "[red]FAILED[/]"
    console.print(
        f"{mark} {step.seconds * 1000:7.1f} ms  {escape(step.title)}: [dim]{escape(step.observation)}[/]"
    )


def _print_snapshot(console: Console, text: str) -> None:
    lines = text.splitlines()
    for line in lines[:MOST_LINES]:
        console.print(f"           | {line}", style="cyan", markup=False)
    if len(lines) > MOST_LINES:
        console.print(f"           | ... {len(lines) - MOST_LINES} more lines", style="cyan", markup=False)


def _print_summary(console: Console, steps: list[Step], *, succeeded: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ASCII2 if not sys.stdout.isatty() else box.ROUNDED, title="Summary")
    table.add_column("step")
    table.add_column("what the page showed", overflow="fold")
    table.add_column("ms", justify="right")
    table.add_column("")
    for step in steps:
        mark = Text("ok", "green") if step.succeeded else Text("FAILED", "red")
        table.add_row(
            Text(escape_line(step.title)),
            Text(escape_lines(step.observation)),
            f"{step.seconds * 1000:.1f}",
            mark,
        )
    console.print()
    console.print(table, soft_wrap=False)
    done = sum(step.succeeded for step in steps)
    console.print(
        f"{done} of {len(steps)} steps succeeded" + ("." if succeeded else "; the last one failed.")
    )


async def _close_now(page: Page) -> None:  # noqa: ARG001 - the tour passes the page to a caller that keeps it open
    await trio.lowlevel.checkpoint()


async def _keep_open(page: Page) -> None:
    """Wait until Ctrl-C, or until the user closes the tab or the browser."""

    async def until_closed() -> None:
        with contextlib.suppress(SessionGoneError, ConnectionLostError):
            await page.session.wait_for("Inspector.detached")
        nursery.cancel_scope.cancel()

    with trio.open_signal_receiver(signal.SIGINT) as interrupts:
        say(f"Kept open at {page.url}. Ctrl-C ends it.")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(until_closed)
            async for _ in interrupts:
                nursery.cancel_scope.cancel()


# --- the tour ------------------------------------------------------------------------------------------------

PRICES = {"Espresso cup": 1800, "Tea bowl": 3250}
"""Prices in cents, in the order of the page's first two "Add to cart" buttons."""

COUPON, PERCENT_OFF = "SLOW10", 10
HUNG_TIMEOUT = 0.5
HUNG_SLACK = 0.5
"""Timeout for a hung script, and the additional time after which the tour fails, in seconds."""


@attrs.define
class Step:
    """One step: its title, its result, its duration in seconds, and whether it succeeded."""

    title: str
    observation: str = ""
    seconds: float = 0.0
    succeeded: bool = False


class StepFailed(Exception):
    """A step failed; it has been reported with the reason."""


@attrs.define
class Tour:
    """Runs the steps and passes each finished one to `on_step`."""

    on_step: Callable[[Step], None]
    on_snapshot: Callable[[str], None]
    before_close: Callable[[Page], Awaitable[None]]
    steps: list[Step] = attrs.field(factory=list)

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Time the block; its expected errors become the step's failure."""
        step = Step(title)
        start = time.perf_counter()
        try:
            yield step
            step.succeeded = True
        except (EngineError, _NotSo) as error:
            step.observation = (
                f"{type(error).__name__}: {error}" if isinstance(error, EngineError) else str(error)
            )
            raise StepFailed(title) from error
        finally:
            step.seconds = time.perf_counter() - start
            self.steps.append(step)
            self.on_step(step)

    async def run(self, browser_block: AbstractAsyncContextManager[Browser], url: str) -> None:
        """Run all steps. Raises StepFailed at the first failed one."""
        async with AsyncExitStack() as stack:
            with self.step("start the browser") as step:
                browser = await stack.enter_async_context(browser_block)
                process_id = await _browser_process(browser)
                step.observation = f"process {process_id}"
            page = await self._open(browser, url)
            snapshot = await self._see(page)
            await self._click(page, snapshot)
            await self._type(page, snapshot)
            await self._hover(page, snapshot)
            await self._evaluate(page)
            await self._survive(page)
            await self._click_again(page, snapshot)
            await self.before_close(page)
            with self.step("close the browser") as step:
                await stack.aclose()
                if os.name == "posix":
                    _check(not _is_alive(process_id), f"process {process_id} is still running")
                step.observation = f"process {process_id} is gone"

    async def _open(self, browser: Browser, url: str) -> Page:
        with self.step("open the shop") as step:
            page = await browser.new_page(url)
            title = await page.title()
            _check("Kettle & Crane" in title, f"the page's title is {title!r}")
            step.observation = title
        return page

    async def _see(self, page: Page) -> Snapshot:
        with self.step("take a snapshot") as step:
            snapshot = await page.snapshot()
            buttons = snapshot.find_all(role="button", name="Add to cart")
            _check(len(buttons) == 3, f"{len(buttons)} buttons 'Add to cart' instead of 3")
            step.observation = f"{len(snapshot.refs)} refs, {len(snapshot.text.splitlines())} lines"
        self.on_snapshot(snapshot.text)
        return snapshot

    async def _click(self, page: Page, snapshot: Snapshot) -> None:
        with self.step('click "Add to cart" by its ref') as step:
            button = snapshot.find(role="button", name="Add to cart")
            step.title += f" {button.id}"
            await page.click(button.id)
            await _expect(page, "document.querySelector('#count').textContent", "1")
            step.observation = "1 item in the cart"

    async def _type(self, page: Page, snapshot: Snapshot) -> None:
        with self.step("type a coupon code and Enter into") as step:
            field = snapshot.find(role="textbox", name="Coupon code")
            step.title += f" {field.id}"
            await page.type(field, COUPON, submit=True)
            note = f"{PERCENT_OFF} % off, enjoy"
            await _expect(page, "document.querySelector('#coupon-note').textContent", note)
            step.observation = f"the page shows: {note}"

    async def _hover(self, page: Page, snapshot: Snapshot) -> None:
        hidden = "Shipping and returns"
        with self.step('hover "Help" and see its menu open') as step:
            _check(not snapshot.find_all(role="link", name=hidden), "the menu was open before")
            await page.hover(snapshot.find(role="button", name="Help"))
            links = (await page.snapshot()).find_all(role="link", name=hidden)
            _check(len(links) == 1, f"{len(links)} links {hidden!r} in the new snapshot instead of 1")
            step.observation = f'new in the snapshot: link "{hidden}" [ref={links[0].id}]'

    async def _evaluate(self, page: Page) -> None:
        with self.step("evaluate the cart's total, under 2 s") as step:
            total = await page.evaluate("Number(document.querySelector('#total').textContent)", timeout=2)
            due = PRICES["Espresso cup"] * (100 - PERCENT_OFF) / 10_000
            _check(total == due, f"the total is {total!r} instead of {due!r}")
            step.observation = f"{total:.2f}"

    async def _survive(self, page: Page) -> None:
        with self.step(f"evaluate while (true) {{}}, under {HUNG_TIMEOUT:g} s") as step:
            start = time.perf_counter()
            try:
                await page.evaluate("while (true) {}", timeout=HUNG_TIMEOUT)
            except EvaluationTimeoutError as error:
                took = time.perf_counter() - start
                _check(took < HUNG_TIMEOUT + HUNG_SLACK, f"it took {took:.2f} s to give up")
                step.observation = (
                    f"EvaluationTimeoutError, {'stopped' if error.report.terminated else 'not stopped'}"
                )
            else:
                raise _NotSo("an endless loop ended")

    async def _click_again(self, page: Page, snapshot: Snapshot) -> None:
        with self.step("click on that same page,") as step:
            button = snapshot.find(role="button", name="Add to cart", nth=1)
            step.title += f" {button.id}"
            await page.click(button)
            await _expect(page, "document.querySelector('#count').textContent", "2")
            step.observation = "2 items in the cart"


class _NotSo(Exception):
    """The page does not confirm a step."""


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _NotSo(otherwise)


async def _expect(page: Page, expression: str, expected: object) -> None:
    found = await page.evaluate(expression, timeout=2)
    _check(found == expected, f"{expression} is {found!r} instead of {expected!r}")


async def _browser_process(browser: Browser) -> int:
    """Return the process id of the browser's main process, as reported by the browser."""
    reply = await browser.session.call("SystemInfo.getProcessInfo")
    return next(int(process["id"]) for process in reply["processInfo"] if process["type"] == "browser")


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


# --- the shop ------------------------------------------------------------------------------------------------

FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/shop.css": ("shop.css", "text/css; charset=utf-8"),
    "/shop.js": ("shop.js", "text/javascript; charset=utf-8"),
}

SHUTDOWN_POLL = 0.02
"""Interval between checks for the end, in seconds: the maximum delay of leaving the block."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Send one of the files, or 404."""
        found = FILES.get(self.path)
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        name, content_type = found
        body = files("cdpengine.cli").joinpath("demo_site", name).read_bytes()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name is http.server's
        """Log nothing: the demo prints its own steps."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a browser that disconnected before its response, as a closed tab does."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def serve_shop() -> Iterator[str]:
    """Serve the shop during the block. Yields its URL."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(
            target=server.serve_forever, args=(SHUTDOWN_POLL,), name="demo shop", daemon=True
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
