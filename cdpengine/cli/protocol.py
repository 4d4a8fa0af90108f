"""`cdpengine protocol`: look up, compare and check a browser's description of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click
import trio

from cdpengine.cli.options import F, Failed, Source, force_option, json_option, may_overwrite, new_file
from cdpengine.cli.output import errors_as_json, limit, print_json, say, say_lines
from cdpengine.errors import FileNotWrittenError, os_reason

if TYPE_CHECKING:
    from cdpengine.debug.explorer.compatibility import Finding
    from cdpengine.debug.explorer.protocol import Protocol

_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


@attrs.frozen
class _Origin:
    """The source of the protocol: a file, a running browser, or a browser to start."""

    file: Path | None
    source: Source

    def load(self) -> Protocol:
        """Read the protocol from the file or the browser."""
        from cdpengine.debug.explorer.protocol import read_protocol

        if self.file is not None:
            return read_protocol(self.file)
        return trio.run(_ask, self.source)


async def _ask(source: Source) -> Protocol:
    from cdpengine._launch.find import find_browser
    from cdpengine._launch.process import LaunchOptions, start_browser
    from cdpengine.debug.explorer.protocol import fetch_protocol

    if source.endpoint is not None:
        return await fetch_protocol(source.endpoint)
    async with start_browser(LaunchOptions(executable=find_browser(source.executable).path)) as process:
        assert process.endpoint is not None
        return await fetch_protocol(process.endpoint)


def _find_protocol(name: str) -> Protocol:
    """Return the protocol from a saved file, an endpoint, or a browser to start."""
    from cdpengine.debug.explorer.protocol import read_protocol

    if "://" in name:
        return _Origin(None, Source(None, name)).load()
    path = Path(name)
    if path.is_file() and _is_document(path):
        return read_protocol(path)
    return _Origin(None, Source(name, None)).load()


def _is_document(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).lstrip()[:1] in (b"{", b"[") or path.suffix == ".json"


def _origin_options(command: F) -> F:
    for option in (
        click.option(
            "--file",
            "saved",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="Read the protocol from a file that `protocol save` wrote.",
        ),
        click.option("--endpoint", metavar="URL", help="Ask a running browser: http://host:port or ws://..."),
        click.option(
            "--browser",
            "executable",
            metavar="PATH|CHANNEL",
            help="The browser to start and ask: a path, or chrome, chromium, edge, brave.",
        ),
    ):
        command = option(command)
    return command


def _origin(saved: Path | None, executable: str | None, endpoint: str | None) -> _Origin:
    if saved is not None and (executable is not None or endpoint is not None):
        raise click.UsageError("--file reads a saved protocol; give no browser with it")
    return _Origin(saved, Source(executable, endpoint))


@click.group(short_help="Look up, compare and check the protocol of a browser.")
def protocol() -> None:
    """Look up, compare and check the protocol of a browser, from the browser's description.

    Without --endpoint or --file, a browser is started for this and ended.
    """


@protocol.command("list", short_help="List domains, or the content of one.")
@click.argument("domain", required=False)
@json_option
@_origin_options
def list_(
    domain: str | None, as_json: bool, saved: Path | None, executable: str | None, endpoint: str | None
) -> None:
    """List the domains, or the commands, events and types of DOMAIN."""
    from cdpengine.debug.explorer.protocol_text import domains_text, list_text, row_json

    with errors_as_json(enabled=as_json):
        loaded = _origin(saved, executable, endpoint).load()
        if domain is None:
            entries = [entry for entry in loaded.entries() if entry.kind == "domain"]
        else:
            home = loaded.find(domain)[0].domain
            entries = [e for e in loaded.entries() if e.domain is home and e.kind != "domain"]
        if as_json:
            print_json({"version": loaded.version, "entries": [row_json(entry) for entry in entries]})
        else:
            _print_list(domains_text(loaded) if domain is None else list_text(entries))


def _print_list(text: str) -> None:
    """Print one entry a line. In a terminal, long lines are cut: the names are at the beginning."""
    columns = limit()
    for line in text.splitlines():
        say(line, columns=columns)


@protocol.command(short_help="Show a command, an event, a type or a domain.")
@click.argument("name")
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="Levels of types to expand.")
@json_option
@_origin_options
def show(
    name: str,
    depth: int | None,
    as_json: bool,
    saved: Path | None,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Show NAME with its parameters and results, types expanded.

    \b
    Examples:
      cdpengine protocol show Page.navigate
      cdpengine protocol show Network.Request --file protocol.json
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.explorer.protocol_text import entry_json, entry_text

    with errors_as_json(enabled=as_json):
        loaded = _origin(saved, executable, endpoint).load()
        entries = loaded.find(name)
        if as_json:
            print_json({"entries": [entry_json(loaded, entry) for entry in entries]})
        else:
            say_lines("\n\n".join(entry_text(loaded, entry, depth=depth) for entry in entries))


@protocol.command(short_help="Find a word in names, fields and descriptions.")
@click.argument("word")
@json_option
@_origin_options
def search(
    word: str, as_json: bool, saved: Path | None, executable: str | None, endpoint: str | None
) -> None:
    """List the items with WORD in their name, fields or description. The exit status is 1 without a match."""
    from cdpengine.debug.explorer.protocol_text import list_text, row_json

    with errors_as_json(enabled=as_json):
        loaded = _origin(saved, executable, endpoint).load()
        found = loaded.search(word)
        if as_json:
            print_json({"entries": [row_json(entry) for entry in found]})
        elif found:
            _print_list(list_text(found))
        else:
            say(f"no item has {word!r} in its name or its description", err=True)
        if not found:
            raise Failed


@protocol.command(short_help="Save the browser's description to a file.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), callback=new_file)
@force_option
@click.option("--endpoint", metavar="URL", help="Ask a running browser: http://host:port or ws://...")
@click.option("--browser", "executable", metavar="PATH|CHANNEL", help="The browser to start and ask.")
def save(file: Path, executable: str | None, endpoint: str | None) -> None:
    """Write the browser's description of the protocol to FILE, unchanged."""
    from cdpengine._launch import private_files

    loaded = _origin(None, executable, endpoint).load()
    try:
        with private_files.new_file(file, overwrite=may_overwrite()) as stream:
            stream.write(loaded.source)
    except OSError as error:
        raise FileNotWrittenError("the protocol", str(file), os_reason(error)) from error
    counts = f"{len(loaded.commands)} commands, {len(loaded.events)} events, {len(loaded.types)} types"
    say(f"{file}: protocol {loaded.version}, {counts}")


@protocol.command(short_help="List the changes from one protocol to another.")
@click.argument("before")
@click.argument("after")
@json_option
def diff(before: str, after: str, as_json: bool) -> None:
    """List the additions, removals and changes from BEFORE to AFTER.

    BEFORE and AFTER are each a file that `protocol save` wrote, the endpoint of a running browser, or a browser
    to start (a path, or chrome, chromium, edge, brave).
    """
    from cdpengine.debug.explorer.compatibility import diff_protocols

    with errors_as_json(enabled=as_json):
        changes = diff_protocols(_find_protocol(before), _find_protocol(after))
        if as_json:
            print_json({"changes": changes})
            return
        for change in changes:
            say(str(change), paint=partial(click.style, fg=_COLOURS[str(change)[0]]))
        say(_count([change.kind for change in changes]))


def _count(kinds: Sequence[str]) -> str:
    counts = [f"{kinds.count(kind)} {kind}" for kind in ("added", "removed", "changed") if kind in kinds]
    return ", ".join(counts) or "no difference"


@protocol.command(short_help="Check whether the engine and PyCDP match this browser.")
@click.option("--all", "everything", is_flag=True, help="Also list items that PyCDP does not know.")
@json_option
@_origin_options
def check(
    everything: bool, as_json: bool, saved: Path | None, executable: str | None, endpoint: str | None
) -> None:
    """Compare the methods and fields of the engine, and those of PyCDP, with the browser's.

    The exit status is 0 if the browser has all methods and fields of the engine, and 1 otherwise.
    Gaps in PyCDP affect only programs that use those parts of it.
    """
    from cdpengine.debug.explorer.compatibility import check_engine, check_pycdp
    from cdpengine.debug.explorer.vocabulary import engine_uses, list_structures, read_pycdp

    with errors_as_json(enabled=as_json):
        loaded = _origin(saved, executable, endpoint).load()
        uses = engine_uses()
        engine = check_engine(loaded, uses)
        pycdp = check_pycdp(loaded, read_pycdp())
        affected = any(finding.breaks for finding in engine)
        if as_json:
            print_json({"affected": affected, "engine": engine, "pycdp": pycdp})
        else:
            methods = len({use.method for use in uses})
            say(f"engine: {methods} methods used, {len(list_structures())} replies and events decoded")
            _print_findings(engine, lambda _finding: True)
            say(f"  {'affected' if affected else 'the browser has all of them'}")
            say("PyCDP:")
            _print_findings(pycdp, lambda finding: finding.breaks or everything)
            broken = sum(finding.breaks for finding in pycdp)
            hidden = "" if everything else " (--all lists it)"
            say(f"  {broken} wrong in PyCDP, {len(pycdp) - broken} unknown to it{hidden}")
        if affected:
            raise Failed


def _print_findings(found: Sequence[Finding], choose: Callable[[Finding], bool]) -> None:
    for finding in found:
        if choose(finding):
            say(
                f"  {finding}",
                paint=partial(click.style, fg="red" if finding.breaks and finding.side == "engine" else None),
            )
