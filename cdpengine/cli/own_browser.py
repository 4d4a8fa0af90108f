"""Commands that load a URL in a browser of their own, such as `cdpengine snapshot https://example.com`.

Rule: the command, its request and its output are the same as in a session. Only the page differs: it is a new tab
of a browser that ends with the command, or of the running browser at --endpoint. Without a URL, it is that
browser's first page. Wrong requests are refused before a browser starts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import trio

from cdpengine._emulation.options import DEFAULT_VIEWPORT, parse_viewport
from cdpengine.act import Actor, ActRequest, ActResponse, dispatch, parse_request
from cdpengine.act.commands.parsing import Command
from cdpengine.act.response import describe_failure
from cdpengine.cli.options import Source
from cdpengine.errors import EngineError, packages_named
from cdpengine.shell import client
from cdpengine.shell.printing import Printed
from cdpengine.shell.starting import parse_typed, report, say
from cdpengine.shell.without_session import print_outcome

_LOADING = 30.0
"""Timeout for loading the URL without --timeout-ms, in seconds."""


def run_with_browser(arguments: Sequence[str]) -> int:
    """Perform one command in its own browser, print its output, and return its exit status."""
    try:
        client.check_output(arguments)
        stdin = client.read_input(arguments)
    except client.TerminalError as error:
        return report(arguments, error)
    url, words = client.split_url(arguments)
    command = parse_typed(words, stdin, url)
    if isinstance(command, Printed):
        return say(command, arguments)
    assert command.request is not None
    try:
        request = parse_request(command.request)
        _record(command.options)
        with packages_named():
            response = trio.run(_perform, command, request)
    except EngineError as error:
        kind = str(command.request["kind"])
        response = ActResponse(kind=kind, ok=False, error=describe_failure(error))
    return say(print_outcome(command, response), arguments)


async def _perform(command: Command, request: ActRequest) -> ActResponse:
    """Open the page, and perform the request on it."""
    timeout = _LOADING if request.timeout_ms is None else request.timeout_ms / 1000
    async with _source(command.options).open_page(command.url, timeout=timeout) as page:
        page.context.browser.internals.disposable = (
            True  # its profile is temporary, and no page needs its end
        )
        actor = Actor(page.context.browser)
        actor.focus(page)
        if getattr(request, "ref", None) is not None:
            await dispatch(actor, {"kind": "snapshot"})  # a ref is one of a new snapshot
        return await dispatch(actor, request)


def _source(options: Mapping[str, str | bool]) -> Source:
    viewport = options.get("--viewport")
    return Source(
        executable=_text(options, "--browser"),
        endpoint=_text(options, "--endpoint"),
        viewport=parse_viewport(viewport) if isinstance(viewport, str) else DEFAULT_VIEWPORT,
    )


def _text(options: Mapping[str, str | bool], name: str) -> str | None:
    value = options.get(name)
    return value if isinstance(value, str) else None


def _record(options: Mapping[str, str | bool]) -> None:
    """Set the environment variables of the options for recordings and step traces, for this process."""
    for option, variable in (("--record", "CDPENGINE_RECORD"), ("--trace", "CDPENGINE_TRACE")):
        if (path := _text(options, option)) is not None:
            os.environ[variable] = path
    for option, variable in (
        ("--unredacted", "CDPENGINE_RECORD_UNREDACTED"),
        ("--keep-arguments", "CDPENGINE_RECORD_KEEP_ARGUMENTS"),
        ("--force", "CDPENGINE_RECORD_OVERWRITE"),
    ):
        if option in options:
            os.environ[variable] = "1"
