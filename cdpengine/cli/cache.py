"""`cdpengine cache`: show, delete, export and import the entries of the action cache."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click
import trio

from cdpengine.cli.options import F, json_option
from cdpengine.cli.output import errors_as_json, limit, print_json, print_table, say, say_lines
from cdpengine.errors import packages_named
from cdpengine.shell.cache_output import describe_cache_result

if TYPE_CHECKING:
    from cdpengine.cache import ActionCache

T = TypeVar("T")


def _file_options(command: F) -> F:
    for option in (
        click.option(
            "--owner", metavar="NAME", help="The owner of the entries; by default the configured one."
        ),
        click.option(
            "--file",
            "path",
            metavar="FILE",
            type=click.Path(path_type=Path, dir_okay=False),
            help="The file of the cache; by default the user's cache.",
        ),
        json_option,
    ):
        command = option(command)
    return command


def _with_cache(
    path: Path | None, owner: str | None, use: Callable[[ActionCache], Awaitable[T]], *, as_json: bool
) -> T:
    """Open the cache, and return the result of `use`."""

    async def work() -> T:
        from cdpengine.cache import ActionCache, read_config

        config = await read_config()
        if owner is not None:
            config = attrs.evolve(config, owner=owner)
        async with ActionCache.open(path, config=config) as opened:
            return await use(opened)

    with errors_as_json(enabled=as_json), packages_named():
        return trio.run(work)


def _run(
    kind: str,
    path: Path | None,
    owner: str | None,
    use: Callable[[ActionCache], Awaitable[dict[str, Any]]],
    *,
    as_json: bool,
) -> None:
    """Open the cache, and print the result of `use` like the result of the request `kind`."""
    result = _with_cache(path, owner, use, as_json=as_json)
    if as_json:
        print_json(result)
        return
    for piece in describe_cache_result(kind, result, time.time()):
        if isinstance(piece, str):
            say(piece)
        else:
            print_table(piece, width=limit(), advice="--json has all")


@click.group("cache", short_help="Show and manage the entries of the action cache.")
def cache() -> None:
    """Show and manage the entries of the action cache.

    The file is encrypted if CDPENGINE_CACHE_KEY or the user's keyring has its key. Options come from
    cache.toml in the user's folder for configuration, and from CDPENGINE_CACHE_... in the environment.
    """


@cache.command("list", short_help="List the entries.")
@click.argument("scenario", required=False)
@click.option(
    "--limit", "most", default=50, show_default=True, type=click.IntRange(1), help="So many at most."
)
@click.option(
    "--offset", default=0, show_default=True, type=click.IntRange(0), help="Number of entries to skip."
)
@_file_options
def list_(
    scenario: str | None, most: int, offset: int, as_json: bool, path: Path | None, owner: str | None
) -> None:
    """List the entries, or those of SCENARIO, latest used first."""
    from cdpengine.cache.acting.managing import list_entries

    _run(
        "cacheList",
        path,
        owner,
        lambda opened: list_entries(opened, scenario, limit=most, offset=offset),
        as_json=as_json,
    )


@cache.command(short_help="Print an entry with its steps.")
@click.argument("entry")
@_file_options
def show(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Print ENTRY, an id of `cdpengine cache list`, with its steps.

    Also prints the outcomes of its runs, and the rule that ends its use.
    """
    from cdpengine.cache.acting.managing import show_entry

    _run("cacheShow", path, owner, lambda opened: show_entry(opened, entry), as_json=as_json)


@cache.command(short_help="List the versions of an entry.")
@click.argument("entry")
@_file_options
def versions(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """List ENTRY and its older versions, newest first."""
    from cdpengine.cache.acting.managing import list_versions

    _run("cacheVersions", path, owner, lambda opened: list_versions(opened, entry), as_json=as_json)


@cache.command(short_help="Restore an older version of an entry.")
@click.argument("entry")
@click.argument("version", type=click.IntRange(1))
@_file_options
def restore(entry: str, version: int, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Make VERSION of ENTRY the current one; `cdpengine cache versions ENTRY` lists them."""
    from cdpengine.cache.acting.managing import restore_version

    _run("cacheRestore", path, owner, lambda opened: restore_version(opened, entry, version), as_json=as_json)


@cache.command(short_help="Delete an entry.")
@click.argument("entry")
@_file_options
def delete(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Delete ENTRY with its versions, even if it is unreadable."""
    from cdpengine.cache.acting.managing import delete_entry

    _run("cacheDelete", path, owner, lambda opened: delete_entry(opened, entry), as_json=as_json)


@cache.command(short_help="Report that an entry did something wrong.")
@click.argument("entry")
@_file_options
def report(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Count a run of ENTRY as failed, although all of its steps succeeded."""
    from cdpengine.cache.acting.managing import report_entry

    _run("reportError", path, owner, lambda opened: report_entry(opened, entry), as_json=as_json)


@cache.command(short_help="Print the scenario and the entry for a sentence and a page.")
@click.argument("sentence")
@click.argument("url")
@click.option("--variant", metavar="NAME", help="Only the entry of this variant.")
@_file_options
def lookup(
    sentence: str, url: str, variant: str | None, as_json: bool, path: Path | None, owner: str | None
) -> None:
    """Print the scenario that SENTENCE is about, and its entry for the page at URL.

    The entry uses all values in SENTENCE. Its other variants follow: only a page shows which one applies.
    With "-" instead of SENTENCE, it is read from standard input.
    """
    from cdpengine.cache.acting.managing import describe_lookup

    sentence = sys.stdin.read() if sentence == "-" else sentence

    async def find(opened: ActionCache) -> dict[str, Any]:
        return describe_lookup(await opened.look_up_address(sentence, url, variant=variant))

    _run("cacheLookup", path, owner, find, as_json=as_json)


@cache.command(short_help="List the scenarios.")
@_file_options
def scenarios(as_json: bool, path: Path | None, owner: str | None) -> None:
    """List the scenarios, with their variables and the outcomes of their runs."""
    from cdpengine.cache.acting.managing import list_scenarios

    _run("scenarioList", path, owner, list_scenarios, as_json=as_json)


@cache.command(short_help="Print statistics of the cache.")
@_file_options
def stats(as_json: bool, path: Path | None, owner: str | None) -> None:
    """Print hits, misses, runs, and the estimated savings in tokens and time."""
    from cdpengine.cache.acting.managing import read_statistics

    _run("cacheStats", path, owner, read_statistics, as_json=as_json)


@cache.command(short_help="Delete entries.")
@click.argument("scenario", required=False)
@click.option("--all", "everything", is_flag=True, help="Delete the entries of all scenarios.")
@_file_options
def clear(
    scenario: str | None, everything: bool, as_json: bool, path: Path | None, owner: str | None
) -> None:
    """Delete the entries of SCENARIO, or with --all those of all scenarios."""
    from cdpengine.cache.acting.managing import clear_entries

    if everything == (scenario is not None):
        raise click.UsageError("give a scenario, or --all")
    _run("cacheClear", path, owner, lambda opened: clear_entries(opened, scenario), as_json=as_json)


@cache.command(short_help="Have an entry learned again.")
@click.argument("entry")
@_file_options
def refresh(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Stop using ENTRY. The next learning of its scenario becomes its next version."""
    from cdpengine.cache.acting.managing import refresh_entry

    _run("forceRefresh", path, owner, lambda opened: refresh_entry(opened, entry), as_json=as_json)


@cache.command("export", short_help="Print all entries as JSON, to be imported elsewhere.")
@click.option("--typed", is_flag=True, help="Include entries that contain typed text.")
@_file_options
def export_(typed: bool, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Print all entries as JSON. The number of omitted entries goes to standard error."""
    found = _with_cache(path, owner, lambda opened: opened.export(typed=typed), as_json=as_json)
    say_lines(found.text.rstrip("\n"))
    say(f"{found.entries} exported, {found.left_out} omitted", err=True)


@cache.command("import", short_help="Import the entries of an export.")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--replace", is_flag=True, help="Replace existing entries.")
@_file_options
def import_(source: Path, replace: bool, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Import the entries of SOURCE ("-": standard input), the output of `cdpengine cache export`."""
    text = sys.stdin.buffer.read() if str(source) == "-" else source.read_bytes()
    done = _with_cache(path, owner, lambda opened: opened.import_(text, replace=replace), as_json=as_json)
    if as_json:
        print_json(attrs.asdict(done))
    else:
        say(f"{done.added} added, {done.replaced} replaced, {done.kept} kept unchanged")


@cache.command(short_help="Print instructions about the cache for a language model.")
@_file_options
def guide(as_json: bool, path: Path | None, owner: str | None) -> None:
    """Print instructions for the prompt of a language model, with the known scenarios."""
    text = _with_cache(path, owner, lambda opened: opened.guide(), as_json=as_json)
    if as_json:
        print_json({"guide": text})
    else:
        say_lines(text.rstrip("\n"))
