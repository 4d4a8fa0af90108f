"""`cdpengine proxy`: a proxy between any client of the protocol and a browser."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine import _json
from cdpengine.cli.options import Source, force_option, may_overwrite, new_file
from cdpengine.cli.output import say

if TYPE_CHECKING:
    from cdpengine.debug.proxy_server import Proxy


@click.command(short_help="Watch, record and disturb the traffic between a client and a browser.")
@click.option(
    "--listen", "port", type=click.IntRange(0, 65535), required=True, metavar="PORT", help="0: any free."
)
@click.option("--upstream", metavar="ENDPOINT", help="The browser: http://host:port or ws://...")
@click.option("--launch", is_flag=True, help="Start a browser instead. It ends with the command.")
@click.option("--browser", "executable", metavar="PATH|CHANNEL", help="With --launch: the browser to start.")
@click.option("--headed", is_flag=True, help="With --launch: show the browser's window.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=new_file,
    metavar="FILE",
    help="Record the traffic to FILE (JSON lines; .zst compresses), secrets redacted.",
)
@click.option("--unredacted", is_flag=True, help="With --record: write secrets too.")
@click.option("--keep-arguments", is_flag=True, help="Keep the arguments and results of scripts.")
@force_option
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="GLOB",
    help="Print only messages with methods like this; can be repeated.",
)
@click.option("--quiet", is_flag=True, help="Print no messages, only connections.")
@click.option("--fault", "faults", multiple=True, metavar="SPEC", help="Inject a fault; can be repeated.")
@click.option(
    "--faults",
    "faults_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Faults, one a line.",
)
def proxy(
    port: int,
    upstream: str | None,
    launch: bool,
    executable: str | None,
    headed: bool,
    host: str,
    record: Path | None,
    unredacted: bool,
    keep_arguments: bool,
    filters: tuple[str, ...],
    quiet: bool,
    faults: tuple[str, ...],
    faults_file: Path | None,
) -> None:
    """Pass any client's traffic through to a browser, and print one line for each message. Ends with Ctrl-C.

    A SPEC is ACTION:METHOD[@KIND][:NTH[:ARGUMENTS]] with the actions delay, drop, duplicate, truncate, error,
    cut; the NTH matching message ("3+" from the third on, "*" each). KIND is call, reply, event or any.

    \b
    Examples:
      cdpengine proxy --listen 9333 --upstream http://127.0.0.1:9222
      cdpengine proxy --listen 9333 --upstream http://127.0.0.1:9222 --filter 'Page.*' --record a.jsonl.zst
      cdpengine proxy --listen 9333 --upstream http://127.0.0.1:9222 --fault error:Page.navigate:2:-32000:no
      cdpengine proxy --listen 9333 --launch --record a.jsonl
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine import debug
    from cdpengine._launch.endpoint import redact_endpoint
    from cdpengine.debug.faults import parse_faults
    from cdpengine.debug.http_websocket_server import is_loopback

    if launch == (upstream is not None):
        raise click.UsageError("give either --upstream ENDPOINT or --launch")
    if (executable is not None or headed) and not launch:
        raise click.UsageError("--browser and --headed need --launch")
    if unredacted and record is None:
        raise click.UsageError("--unredacted needs --record FILE")
    lines = [] if faults_file is None else faults_file.read_text().splitlines()
    overwrite = may_overwrite()
    planned = [*parse_faults(lines), *(debug.parse_fault(fault) for fault in faults)]

    async def run() -> None:
        if upstream is not None:
            await forward(upstream)
            return
        source = Source(executable=executable, endpoint=None)
        async with source.open(headless=not headed, debugging_port=0) as browser:
            await forward(str(browser.endpoint))

    async def forward(endpoint: str) -> None:
        async with debug.proxy(
            endpoint,
            faults=planned,
            record=record,
            overwrite=overwrite,
            unredacted=unredacted,
            keep_arguments=keep_arguments,
            host=host,
            port=port,
        ) as running:
            if not is_loopback(running.listens_on[0]):
                say(
                    f"WARNING: listening on {running.listens_on[0]}: all programs that can reach this port can do "
                    "all that the browser's user can",
                    err=True,
                    paint=partial(click.style, fg="red", bold=True),
                )
            say(f"{running.endpoint} -> {redact_endpoint(endpoint)} ({running.ws_endpoint})")
            for fault in planned:
                say(f"fault {fault}")
            running.notes.append(say)
            if quiet:
                await trio.sleep_forever()
            await _print_messages(running, filters, keep_arguments=keep_arguments)

    trio.run(run)


async def _print_messages(running: Proxy, filters: tuple[str, ...], *, keep_arguments: bool) -> None:

    from cdpengine._protocol.instruments import Traffic
    from cdpengine.debug.reading.display import plain, show_line
    from cdpengine.debug.recording.lines import LineMaker
    from cdpengine.debug.recording.redact import Redactor
    from cdpengine.debug.recording_format import Line

    redactor = Redactor(keep_arguments=keep_arguments)
    maker = LineMaker(began=trio.current_time(), limit=_LOOKED_AT, redactor=redactor, foreign=True)
    decode = _json.Decoder(Line).decode

    def watch(traffic: Traffic) -> None:
        for raw in maker.lines(traffic):
            line = decode(raw)
            if not line.d or (filters and not any(fnmatchcase(line.m, pattern) for pattern in filters)):
                continue
            client = " ".join(line.c.split(" ")[:2])
            say(f"{client:<9} {plain(show_line(line, payload_limit=_PAYLOAD_LIMIT))}")

    with running.instruments.attached(watch):
        await trio.sleep_forever()


_PAYLOAD_LIMIT = 120
"""Maximum length of a printed payload, in bytes."""

_LOOKED_AT = 4096
"""Maximum length of a printed message, in bytes. A longer message is cut before the search for secrets."""
