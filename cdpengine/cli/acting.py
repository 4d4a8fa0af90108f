"""The commands for requests: `run` runs an action script, `serve` and `mcp` run servers.

Rule: a script is parsed completely before the browser starts. Each step prints one line to standard error. The
results of steps that read and the answer of `stop` go to standard output. The service prints the path of the
token's file, and never the token.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import trio

from cdpengine._launch.ending_signals import ENDING_SIGNALS, end_by
from cdpengine._nursery import open_body_nursery
from cdpengine.cli.options import (
    Failed,
    Source,
    absolute_url,
    browser_options,
    json_option,
    state_folder,
    trace_option,
    viewport_option,
)
from cdpengine.cli.output import errors_as_json, print_json, say, say_lines
from cdpengine.errors import packages_named
from cdpengine.errors.texts import duration
from cdpengine.shell import client

if TYPE_CHECKING:
    from cdpengine.act import ActResponse, ScriptRun, ScriptStep


def _check_url(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return None if value is None else absolute_url(ctx, param, value)


@click.command(short_help="Run an action script.")
@click.argument("script", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--url", callback=_check_url, metavar="URL", help="The first page; by default a blank one.")
@click.option("--snapshot", "shows", is_flag=True, help="Print the page with its numbers at the end.")
@json_option
@browser_options
def run(
    script: Path, url: str | None, shows: bool, as_json: bool, executable: str | None, endpoint: str | None
) -> None:
    """Run the actions in SCRIPT ("-": standard input), one a line, up to the first failure.

    The numbers are those of `cdpengine snapshot --mode numbered`. Lines that begin with # are comments.

    \b
    Actions:
      click [12]    hover [12]    type [7] [text] [1]    press [Control+A]    scroll [down]
      goto [url]    new_tab    tab_focus [1]    close_tab    go_back    go_forward    stop [answer]
      check [3]    uncheck [3]    select [7] [Red]    scroll_into_view [3]    fill [7] [text]
      wait [1000]    get [value] [7]    text [3]    reload    and other commands of a page

    \b
    Example:
      cdpengine run --url https://example.com steps.txt
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    text = sys.stdin.read() if str(script) == "-" else script.read_text(encoding="utf-8")
    source = Source(executable, endpoint)

    async def perform() -> tuple[ActResponse, ScriptRun, ActResponse]:
        from cdpengine.act import Actor, NewTab, dispatch, run_script

        async with source.open() as browser, browser.new_context() as context:
            actor = Actor(browser, context)
            opened = await dispatch(actor, NewTab(url=url))
            if opened.error is not None:
                raise click.ClickException(opened.error.message)
            done = await run_script(actor, text)
            # Without a snapshot, request the tabs: that response has the dialogs that opened late.
            last = {"kind": "snapshot", "mode": "numbered"} if shows else {"kind": "tabs"}
            return opened, done, await dispatch(actor, last)

    with errors_as_json(enabled=as_json):
        from cdpengine.act import parse_script

        list(parse_script(text))
        opened, done, last = trio.run(perform)
    snapshot = last.result["snapshot"] if shows and last.ok else None
    if as_json:
        around = {"opened": opened.to_json().get("effects"), "after": last.to_json().get("effects")}
        notes = {name: {"effects": effects} for name, effects in around.items() if effects}
        print_json({**_describe(done), **notes, **({} if snapshot is None else {"snapshot": snapshot})})
    else:
        _say_effects(opened)
        _say_steps(text, done)
        _say_effects(last)
        if snapshot is not None:
            say_lines(snapshot)
        if done.answer:
            say(done.answer)
    if not done.ok:
        raise Failed


def _describe(done: ScriptRun) -> dict[str, object]:
    answers = [None if step.response is None else step.response.to_json() for step in done.steps]
    steps = [
        {"line": step.line, "url": step.url, "response": to}
        for step, to in zip(done.steps, answers, strict=True)
    ]
    # A script stops at its first failure, which is the last response.
    error = {} if done.ok or not answers or answers[-1] is None else {"error": answers[-1]["error"]}
    return {"ok": done.ok, "steps": steps, "answer": done.answer, **error}


def _say_steps(text: str, done: ScriptRun) -> None:
    from cdpengine.act import ActRequest
    from cdpengine.act.fields import secret_fields

    lines = text.splitlines()
    for step in done.steps:
        failure = None if step.response is None else step.response.error
        words = lines[step.line - 1].strip()
        if isinstance(step.action, ActRequest) and secret_fields(type(step.action)):
            first, bracket, rest = words.partition("]")
            words = f"{first}{bracket} ..." if rest else words
        if failure is None:
            say(f"{step.line}: {words}  {step.url or 'no page'}", err=True)
            _say_effects(step.response)
            _say_result(step)
        else:
            say_lines(f"Error: line {step.line}: {words}: {failure.message}\n{failure.hint}", err=True)
            _say_effects(step.response)


def _say_result(step: ScriptStep) -> None:
    """Print the result of an action that reads."""
    from cdpengine.act import ActingRequest, ActRequest
    from cdpengine.shell.printing import format_result

    action, response = step.action, step.response
    if not isinstance(action, ActRequest) or response is None:
        return
    if not (action.in_order or action.opens_url or isinstance(action, ActingRequest)):
        for lines in format_result(response):
            say_lines(lines)
        for note in action.notes(response.result):
            say(note, err=True)


def _say_effects(response: ActResponse | None) -> None:
    """Print the effects of an action, and the dialogs that opened since the last one."""
    from cdpengine.act.response import describe_effects

    for line in () if response is None else describe_effects(response.effects):
        say(f"   {line}", err=True)


# --- the service ---------------------------------------------------------------------------------------------


def token_path() -> Path:
    """Return the path of the token's file, in the user's folder for state."""
    return state_folder() / "token"


def allowed_by(capabilities: Collection[str]) -> dict[str, Any]:
    """Return the settings of a service with these capabilities. Commands can run any script."""
    return {
        "evaluate_enabled": not {"scripts", "wire"}.isdisjoint(capabilities),
        "commands_enabled": "wire" in capabilities,
        "files": Path.cwd() if "files" in capabilities else None,
    }


FURTHER_TOOLS = "more, scripts, files, storage, emulation, network, wire, performance, cache"
"""The capabilities of the MCP server besides "core", for the help, which does not import the server."""


def _check_capabilities(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    with packages_named():
        from cdpengine.act.tooling.table import CAPABILITIES
    names = tuple(name for value in values for each in value.split(",") if (name := each.strip()))
    for name in names:
        if name not in CAPABILITIES:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(CAPABILITIES[1:])}", ctx, param)
    return names


_cache_option = click.option(
    "--cache",
    "cache",
    is_flag=False,
    flag_value="user",
    metavar="[FILE]",
    help="Offer the action cache in FILE; without FILE, the user's cache.",
)


@click.command(short_help="Run the engine as a service over HTTP.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", default=8787, show_default=True, type=click.IntRange(0, 65535), help="0: any free one."
)
@click.option(
    "--token-file", type=click.Path(path_type=Path), help="The file of the token; created if needed."
)
@click.option("--name", "hosts", multiple=True, metavar="HOST", help="A further host name of the service.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="The origin of a web page that may use the service.",
)
@click.option("--allow-private", is_flag=True, help="Allow pages from private networks and this machine.")
@click.option(
    "--allow", multiple=True, metavar="HOST", help="Allow only these hosts (*.example.com: its subdomains)."
)
@click.option("--deny", multiple=True, metavar="HOST", help="Block these hosts.")
@click.option(
    "--files",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the files of requests.",
)
@click.option(
    "--profiles",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the profiles of sessions.",
)
@click.option(
    "--mcp-capabilities",
    "mcp_capabilities",
    multiple=True,
    callback=_check_capabilities,
    metavar="NAMES",
    help=f"Further tools for clients of /mcp, comma-separated: {FURTHER_TOOLS}.",
)
@_cache_option
@click.option("--no-evaluate", is_flag=True, help="Refuse requests that run a script of the caller.")
@click.option("--headful", is_flag=True, help="Show the browser's window.")
@viewport_option
@click.option("--browser", "executable", metavar="PATH|CHANNEL", help="The browser to start.")
@click.option("--endpoint", metavar="URL", help="Use a running browser, and leave it running.")
@partial(trace_option, new=False)
@click.option(
    "--sessions", default=32, show_default=True, type=click.IntRange(1), help="Maximum number of sessions."
)
@click.option(
    "--idle",
    default=600,
    show_default=True,
    type=click.IntRange(1),
    help="Seconds until an idle session ends.",
)
@click.option(
    "--ending",
    default=5.0,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="Seconds that running requests get at shutdown.",
)
def serve(
    host: str,
    port: int,
    token_file: Path | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    allow_private: bool,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    files: Path | None,
    profiles: Path | None,
    mcp_capabilities: tuple[str, ...],
    cache: str | None,
    no_evaluate: bool,
    headful: bool,
    viewport: tuple[int, int] | None,
    executable: str | None,
    endpoint: str | None,
    sessions: int,
    idle: int,
    ending: float,
) -> None:
    """Answer requests over HTTP: POST /act, /snapshot, /screenshot and others; /openapi.json lists all.

    Each request needs the header "Authorization: Bearer TOKEN". By default, pages may open http and https
    URLs on the internet. SIGTERM shuts the service down in order, with status 0.

    \b
    Example:
      cdpengine serve --port 8787 &
      curl -H "Authorization: Bearer $(cat ~/.local/state/cdpengine/token)" \\
        -d '{"kind": "navigate", "url": "https://example.com"}' http://127.0.0.1:8787/act
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    with packages_named():
        from cdpengine.service.serving import serve as run_service
        from cdpengine.service.settings import ServiceSettings, keep_token
        from cdpengine.service.url_policy import UrlPolicy
    if cache is None and "cache" in mcp_capabilities:
        cache = "user"
    place = token_file or token_path()
    try:
        token = keep_token(place)
    except OSError as error:
        raise click.ClickException(f"cannot use the token's file {place}: {error.strerror}") from error
    settings = ServiceSettings(
        token=token,
        host=host,
        port=port,
        hosts=hosts,
        origins=origins,
        evaluate_enabled=not no_evaluate,
        url_policy=UrlPolicy(allow_private=allow_private, allow=allow, deny=deny),
        files=files,
        profiles=profiles,
        mcp_capabilities=(*mcp_capabilities, *([] if cache is None else ["cache"])),
        commands_enabled="wire" in mcp_capabilities,
        cache=_cache_file(cache),
        endpoint=endpoint,
        executable=executable,
        headless=not headful,
        viewport=viewport,
        sessions=sessions,
        session_idle=idle,
        ending=ending,
    )

    async def run() -> int:
        async with open_body_nursery() as nursery:
            with trio.open_signal_receiver(*_signals()) as signals:
                async with run_service(settings) as listening:
                    say(f"listening on {listening.url}", err=True)
                    say(f"the token is in {place}", err=True)
                    number: int = await anext(signals)
                    say(
                        f"ending; running requests have {duration(ending)} (a second signal ends it immediately)",
                        err=True,
                    )
                    nursery.start_soon(_end_at_next, signals)
                return number

    try:
        number = trio.run(run)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {host}:{port}: {error.strerror}") from error
    if (
        number != signal.SIGTERM
    ):  # SIGTERM is the usual way to end a service; the others end it like all commands
        sys.exit(128 + number)


def _cache_file(value: str | None) -> Path | Literal["user"] | None:
    return None if value is None else "user" if value == "user" else Path(value)


def _signals() -> list[int]:
    """Return the signals that end a service, without ignored ones, as with nohup."""
    ending = {signal.SIGINT, signal.SIGTERM, *ENDING_SIGNALS}
    return [each for each in ending if signal.getsignal(each) is not signal.SIG_IGN]


async def _end_at_next(signals: AsyncIterator[int]) -> None:
    """End the process immediately at the next signal: the system then ends the browser through its pipe."""
    end_by(await anext(signals))


# --- MCP -----------------------------------------------------------------------------------------------------


@click.command(short_help="Offer the browser's tools to a model, over MCP.")
@click.option(
    "--capabilities",
    "--caps",
    multiple=True,
    callback=_check_capabilities,
    metavar="NAMES",
    help=f"Further tools, comma-separated: {FURTHER_TOOLS}.",
)
@click.option(
    "--max-tokens",
    default=2_000,
    show_default=True,
    type=click.IntRange(100),
    help="Maximum length of a result.",
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for long results, which is kept; by default a temporary one.",
)
@_cache_option
@click.option("--no-private", is_flag=True, help="Block pages from private networks and this machine.")
@click.option("--headful", is_flag=True, help="Show the browser's window.")
@viewport_option
@click.option("--browser", "executable", metavar="PATH|CHANNEL", help="The browser to start.")
@click.option("--endpoint", metavar="URL", help="Use a running browser, and leave it running.")
@click.option(
    "--default-context", is_flag=True, help="With --endpoint: use the tabs and logins of that browser."
)
@click.option(
    "--user-data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the browser's profile, which is kept, with its logins.",
)
@partial(trace_option, new=False)
def mcp(
    capabilities: tuple[str, ...],
    max_tokens: int,
    output_dir: Path | None,
    cache: str | None,
    no_private: bool,
    headful: bool,
    viewport: tuple[int, int] | None,
    executable: str | None,
    endpoint: str | None,
    default_context: bool,
    user_data_dir: Path | None,
) -> None:
    """Serve one client over standard input and output, using the Model Context Protocol.

    The MCP client starts this command.

    \b
    Example:
      {"mcpServers": {"browser": {"command": "cdpengine", "args": ["mcp"]}}}
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    with packages_named():
        from cdpengine.service.mcp_server import McpSettings, run_on_stdio
        from cdpengine.service.outputs import open_outputs
        from cdpengine.service.serving import open_service
        from cdpengine.service.settings import ServiceSettings, make_token
        from cdpengine.service.url_policy import UrlPolicy

    if cache is None and "cache" in capabilities:
        cache = "user"
    elif cache is not None:
        capabilities = (*capabilities, "cache")

    async def serve_client() -> None:
        async with open_outputs(output_dir) as outputs:
            settings = ServiceSettings(
                token=make_token(),
                **allowed_by(capabilities),
                outputs=outputs.path,
                reads_ahead=True,
                cache=_cache_file(cache),
                states=Path(client.states_folder()) if "storage" in capabilities else None,
                url_policy=UrlPolicy(
                    allow_private=not no_private,
                    private_remedy="a server without --no-private",
                ),
                endpoint=endpoint,
                default_context=default_context,
                user_data_dir=user_data_dir,
                executable=executable,
                headless=not headful,
                viewport=viewport,
            )
            async with open_service(settings) as service:
                offered = McpSettings(capabilities=capabilities, max_tokens=max_tokens)
                await run_on_stdio(partial(service.perform, "mcp"), offered, outputs)

    async def run() -> int:
        """Serve until the client closes the input or a signal arrives; return the signal, or 0."""
        ended_by: list[int] = []
        async with open_body_nursery() as nursery:
            with trio.open_signal_receiver(*_signals()) as signals, trio.CancelScope() as serving:

                async def end() -> None:
                    ended_by.append(await anext(signals))
                    serving.cancel()
                    await _end_at_next(signals)

                nursery.start_soon(end)
                await serve_client()
            nursery.cancel_scope.cancel()
        return ended_by[0] if ended_by else 0

    try:
        number = trio.run(run)
    except OSError as error:
        raise click.ClickException(f"cannot use the folder for outputs: {error.strerror}") from error
    if number not in (0, signal.SIGTERM):
        sys.exit(128 + number)
