"""`cdpengine cache`: show, delete, export and import the entries of the action cache."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click
import trio

from cdpengine.cli.options import F, json_option
from cdpengine.cli.output import Column, errors_as_json, limit, print_json, print_table, say, say_lines
from cdpengine.errors import CacheMissError, packages_named

if TYPE_CHECKING:
    from cdpengine.cache import ActionCache, CacheEntry, Lookup

T = TypeVar("T")

_HOUR, _DAY = 3_600.0, 86_400.0


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

    with errors_as_json(wanted=as_json), packages_named():
        return trio.run(work)


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

    async def read(opened: ActionCache) -> tuple[Sequence[CacheEntry], int, Mapping[str, str]]:
        found = await opened.list(scenario, limit=most, offset=offset)
        return found, await opened.size(scenario), opened.store.damaged

    entries, size, damaged = _with_cache(path, owner, read, as_json=as_json)
    if as_json:
        print_json({"count": size, "entries": [_describe(entry) for entry in entries], "damaged": damaged})
        return
    if not entries and not damaged:
        say("no entries")
    elif entries:
        print_table(_columns(entries, time.time()), width=limit(), advice="--json has all")
    for identity, reason in damaged.items():
        say(f"entry {identity} is damaged: {reason}. Delete it: cdpengine cache delete {identity}")
    if offset + len(entries) + len(damaged) < size:
        say(f"{size} entries in all; --offset {offset + most} shows the next ones")


def _columns(entries: Sequence[CacheEntry], now: float) -> list[Column]:
    return [
        Column("entry", [entry.key.id for entry in entries], figure=False),
        Column("scenario", [entry.key.scenario for entry in entries], figure=False),
        Column("level", [entry.level for entry in entries], figure=False),
        Column("address", [entry.key.address for entry in entries], 1, figure=False),
        Column("variables", [", ".join(entry.key.variables) for entry in entries], 2, figure=False),
        Column("steps", [str(len(entry.steps)) for entry in entries], 4),
        Column("version", [str(entry.version) for entry in entries], 5),
        Column("done", [str(entry.statistics.successes) for entry in entries], 3),
        Column("failed", [str(entry.statistics.failures) for entry in entries], 3),
        *_columns_of_variants(entries),
        Column("ends in", [_tell_time(entry.expires_at - now) for entry in entries], 6),
    ]


def _columns_of_variants(entries: Sequence[CacheEntry]) -> list[Column]:
    variants = [entry.key.variant for entry in entries]
    return [Column("variant", variants, 2, figure=False)] if any(variants) else []


def _tell_time(seconds: float) -> str:
    if seconds <= 0:
        return "expired"
    return f"{seconds / _DAY:.0f} d" if seconds >= 2 * _DAY else f"{seconds / _HOUR:.1f} h"


def _describe(entry: CacheEntry) -> dict[str, Any]:
    from cdpengine.cache import entry_to_json

    return {"id": entry.key.id, **entry_to_json(entry)}


@cache.command(short_help="Print an entry with its steps, as JSON.")
@click.argument("entry")
@_file_options
def show(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Print ENTRY, an id of `cdpengine cache list`, as JSON.

    `statistics` are the outcomes of its runs, and `rule` explains when it is no longer used.
    """

    async def find(opened: ActionCache) -> dict[str, Any]:
        from cdpengine.cache.acting.showing import describe_runs

        found = await opened.get(entry)
        if found is None:
            raise CacheMissError(f"entry {entry}", "any page", "no entry has this id")
        return _describe(found) | describe_runs(found, opened.config.failures)

    print_json(_with_cache(path, owner, find, as_json=as_json))


@cache.command(short_help="List the versions of an entry.")
@click.argument("entry")
@_file_options
def versions(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """List ENTRY and its older versions, newest first."""
    found = _with_cache(path, owner, lambda opened: opened.versions(entry), as_json=as_json)
    if as_json:
        print_json({"versions": [_describe(each) for each in found]})
    elif not found:
        say("no entry has this id")
    else:
        print_table(_columns(found, time.time()), width=limit(), advice="--json has all")


@cache.command(short_help="Restore an older version of an entry.")
@click.argument("entry")
@click.argument("version", type=click.IntRange(1))
@_file_options
def restore(entry: str, version: int, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Make VERSION of ENTRY the current one; `cdpengine cache versions ENTRY` lists them."""
    kept = _with_cache(path, owner, lambda opened: opened.restore(entry, version), as_json=as_json)
    if as_json:
        print_json(_describe(kept))
    else:
        say(f"version {version} is restored as version {kept.version}")


@cache.command(short_help="Delete an entry.")
@click.argument("entry")
@_file_options
def delete(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Delete ENTRY with its versions, even if it is unreadable."""
    deleted = _with_cache(path, owner, lambda opened: opened.delete(entry), as_json=as_json)
    if as_json:
        print_json({"deleted": deleted})
    else:
        say("deleted" if deleted else "no entry has this id")


@cache.command(short_help="Report that an entry did something wrong.")
@click.argument("entry")
@_file_options
def report(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Count a run of ENTRY as failed, although all of its steps succeeded."""
    still = _with_cache(path, owner, lambda opened: opened.report_error(entry), as_json=as_json)
    if as_json:
        print_json({"stillUsed": still})
    else:
        say("counted" if still else "counted; the entry is no longer used")


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
    sentence = sys.stdin.read() if sentence == "-" else sentence

    async def find(opened: ActionCache) -> Lookup:
        return await opened.look_up_address(sentence, url, variant=variant)

    found = _with_cache(path, owner, find, as_json=as_json)
    entries = () if found.entry is None else (found.entry, *found.others)
    if as_json:
        print_json({**found.to_json(), "entries": [_describe(entry) for entry in entries]})
        return
    values = f" with values for {', '.join(found.variables)}" if found.variables else ""
    say(f"scenario {found.scenario or 'unknown'}{values}" + (f": {found.reason}" if found.reason else ""))
    for remark in found.remarks:
        say(remark)
    if entries:
        print_table(_columns(entries, time.time()), width=limit(), advice="--json has all")


@cache.command(short_help="List the scenarios.")
@_file_options
def scenarios(as_json: bool, path: Path | None, owner: str | None) -> None:
    """List the scenarios, with their variables and the outcomes of their runs."""
    found = _with_cache(path, owner, lambda opened: opened.scenarios(), as_json=as_json)
    if as_json:
        print_json({"scenarios": [attrs.asdict(each) for each in found]})
    elif not found:
        say("no entries")
    else:
        columns = [
            Column("scenario", [each.scenario for each in found], figure=False),
            Column("entries", [str(each.entries) for each in found]),
            Column("variables", [", ".join(each.variables) for each in found], 1, figure=False),
            Column("done", [str(each.successes) for each in found], 2),
            Column("failed", [str(each.failures) for each in found], 2),
        ]
        print_table(columns, width=limit())


@cache.command(short_help="Print statistics of the cache.")
@_file_options
def stats(as_json: bool, path: Path | None, owner: str | None) -> None:
    """Print hits, misses, runs, and the estimated savings in tokens and time."""
    found = _with_cache(path, owner, lambda opened: opened.statistics(), as_json=as_json)
    if as_json:
        print_json({**attrs.asdict(found), "hit_rate": found.hit_rate, "success_rate": found.success_rate})
        return
    rows = found.to_rows()
    print_table(
        [
            Column("figure", [name for name, _ in rows], figure=False),
            Column("value", [value for _, value in rows], figure=False),
        ],
        width=limit(),
    )


@cache.command(short_help="Delete entries.")
@click.argument("scenario", required=False)
@click.option("--all", "everything", is_flag=True, help="Delete the entries of all scenarios.")
@_file_options
def clear(
    scenario: str | None, everything: bool, as_json: bool, path: Path | None, owner: str | None
) -> None:
    """Delete the entries of SCENARIO, or with --all those of all scenarios."""
    if everything == (scenario is not None):
        raise click.UsageError("give a scenario, or --all")
    deleted = _with_cache(path, owner, lambda opened: opened.clear(scenario), as_json=as_json)
    if as_json:
        print_json({"deleted": deleted})
    else:
        say(f"{deleted} deleted")


@cache.command(short_help="Have an entry learned again.")
@click.argument("entry")
@_file_options
def refresh(entry: str, as_json: bool, path: Path | None, owner: str | None) -> None:
    """Stop using ENTRY. The next recording of its scenario becomes its next version."""
    refreshed = _with_cache(path, owner, lambda opened: opened.refresh(entry), as_json=as_json)
    if as_json:
        print_json({"refreshed": refreshed})
    else:
        say("it will be learned again" if refreshed else "it was not in use")


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
