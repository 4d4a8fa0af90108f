"""`python -m benchmarks`: compare the engine with its peers and with the floor, case by case, in one run.

Rule: this module parses arguments, runs cases and writes files. `cases/` defines the cases, `harness/` the
reports. Progress goes to standard error, tables to standard output. Published files (`--summary`, and files with
the marker lines) require a quiet machine; otherwise the run is refused before it begins. Exit status: 0; 1 if a
case of the engine failed; 2 for wrong usage or a refusal.
"""

from __future__ import annotations

import argparse
import datetime as dt
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import trio

from benchmarks.cases import CASES
from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.blocks import missing, put_block
from benchmarks.harness.machine import busy, core_count, look_at_load, look_at_machine
from benchmarks.harness.markdown import whole
from benchmarks.harness.peers import PEER_NAMES, known
from benchmarks.harness.plots import page
from benchmarks.harness.report import PeerFacts, Report, from_json, to_json
from benchmarks.harness.run import Outcome, open_bench, run_cases, say
from benchmarks.harness.summary import pictures, summary
from cdpengine._nursery import open_body_nursery

TURNS = 4
QUICK_TURNS = 3


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare the engine with its peers and with the floor, in alternating turns of one run.",
        epilog="scripts/peers.sh installs the peers. Missing peers are reported and left out.",
    )
    made.add_argument("names", nargs="*", metavar="CASE", help="cases to run; default: all")
    made.add_argument("--peers", default="all", metavar="NAMES", help="all, none, or comma-separated names")
    made.add_argument(
        "--quick", action="store_true", help="fewer sizes, shorter turns: about four minutes for all"
    )
    made.add_argument(
        "--turns", type=int, metavar="N", help=f"rounds of each figure ({TURNS}; quick: {QUICK_TURNS})"
    )
    made.add_argument(
        "--browser", metavar="PATH", help="the browser of all sides, as for cdpengine.find_browser"
    )
    made.add_argument("--json", type=Path, metavar="FILE", help="write the report, with every value")
    made.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page with plots")
    made.add_argument(
        "--markdown",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write the report as Markdown; in a FILE with the two marker lines, only the block between them; repeatable",
    )
    made.add_argument(
        "--summary",
        type=Path,
        metavar="FILE",
        help="write the summary as Markdown, and its plots to the folder of the same name",
    )
    made.add_argument(
        "--under-load",
        action="store_true",
        help="publish even if the machine has other load",
    )
    made.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="measure nothing: read a --json file"
    )
    made.add_argument("--list", action="store_true", help="list the cases and their durations")
    return made


def chosen_peers(text: str) -> tuple[str, ...]:
    """Return the peers named by `--peers`. Raises ValueError for an unknown peer."""
    if text == "all":
        return PEER_NAMES
    return () if text == "none" else known(name.strip() for name in text.split(","))


def command_text(arguments: Sequence[str], program: str = "benchmarks") -> str:
    """Return the command for the report, with paths shortened to file names."""
    return shlex.join(
        ["python", "-m", program, *(Path(each).name if "/" in each else each for each in arguments)]
    )


def peer_facts(bench: Bench) -> tuple[PeerFacts, ...]:
    """Return the facts that the peers reported about themselves during the run."""
    said = []
    for name in bench.peer_names:
        peer = bench.group.said.get(name)
        if peer is None:
            said.append(PeerFacts(name, cannot="no case asked for it"))
        elif peer.version:
            said.append(PeerFacts(name, peer.version, peer.attached))
        else:
            said.append(PeerFacts(name, cannot=peer.refusal))
    return tuple(said)


async def take(
    options: argparse.Namespace, peers: tuple[str, ...], command: str, cases: Sequence[Case]
) -> Report:
    """Run the cases and return the report. Its JSON is written after each case, so that an aborted run keeps it."""
    turns = options.turns or (QUICK_TURNS if options.quick else TURNS)
    began, started, before = dt.datetime.now(dt.UTC), time.monotonic(), look_at_load()
    async with open_bench(peers=peers, quick=options.quick, turns=turns, executable=options.browser) as bench:
        machine = await trio.to_thread.run_sync(look_at_machine, bench.executable)

        def report_of(outcome: Outcome) -> Report:
            return Report(
                began=f"{began:%Y-%m-%d %H:%M} UTC",
                command=command,
                seconds=time.monotonic() - started,
                quick=options.quick,
                machine=machine,
                before=before,
                after=look_at_load(),
                bare=outcome.bare,
                peers=peer_facts(bench),
                cases=outcome.cases,
                measurements=tuple(bench.measurements),
            )

        def keep(outcome: Outcome) -> None:
            if options.json:
                options.json.parent.mkdir(parents=True, exist_ok=True)
                options.json.write_bytes(to_json(report_of(outcome)))

        return report_of(await run_cases(bench, cases, keep))


async def run_until_signal(
    options: argparse.Namespace, peers: tuple[str, ...], command: str, cases: Sequence[Case]
) -> Report:
    """Run the cases. A SIGTERM ends them like Ctrl-C, with full cleanup."""
    if sys.platform == "win32":
        return await take(options, peers, command, cases)
    report: Report | None = None
    ended_by: list[int] = []
    async with open_body_nursery() as nursery:

        async def listen(task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
            with trio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
                task_status.started()
                async for number in signals:
                    ended_by.append(number)
                    nursery.cancel_scope.cancel()

        await nursery.start(listen)
        report = await take(options, peers, command, cases)
    if report is None:
        sys.exit(128 + ended_by[0])
    return report


def why_not_published(options: argparse.Namespace) -> str:
    """Return why this run must not be published, or "" if it may be or need not be."""
    published = options.summary or any(has_block(path) for path in options.markdown)
    if not published or options.under_load or options.source is not None:
        return ""
    loaded = busy(look_at_load(), core_count())
    return f"{loaded}: wait until it is quiet, or publish with --under-load" if loaded else ""


def has_block(path: Path) -> bool:
    """Whether a file contains the marker lines."""
    return path.exists() and "<!-- benchmarks:" in path.read_text("utf-8")


def write(report: Report, options: argparse.Namespace) -> None:
    """Write the requested files, the JSON first, because the others can be derived from it."""
    for path in (options.json, options.html, options.summary, *options.markdown):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
    if options.json:
        options.json.write_bytes(to_json(report))
        say(f"wrote {options.json}")
    if options.html:
        options.html.write_text(page(report), "utf-8")
        say(f"wrote {options.html}")
    for path in options.markdown:
        write_markdown(report, path)
    if options.summary:
        write_summary(report, options.summary)
        say(f"wrote {options.summary}")
    if not (options.json or options.html or options.markdown or options.summary):
        print(whole(report))


def write_markdown(report: Report, path: Path) -> None:
    """Write the tables, or the block of a file with markers. A run without all figures leaves the block unchanged."""
    if not has_block(path):
        path.write_text(whole(report), "utf-8")
    elif without := missing(report, path.read_text("utf-8")):
        say(f"left {path} as it is: this run has no figure of {', '.join(without)}")
        return
    else:
        path.write_text(put_block(path.read_text("utf-8"), report), "utf-8")
    say(f"wrote {path}")


def write_summary(report: Report, path: Path) -> None:
    """Write the summary and its plots. Remove plots of earlier runs that this run lacks."""
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    drawn = pictures(report)
    for old in set(folder.glob("*.svg")) - {folder / name for name in drawn}:
        old.unlink()
    for name, (_, picture) in drawn.items():
        (folder / name).write_text(picture, "utf-8")
    path.write_text(summary(report, folder.name), "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, write."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    made = parser()
    options = made.parse_args(given)
    if options.list:
        for name, case in CASES.items():
            print(f"{name:15} {case.seconds:4.0f} s, quick {case.quick_seconds:3.0f} s  {case.title}")
        return 0
    if unknown := sorted(set(options.names) - set(CASES)):
        made.error(f"no case is named {', '.join(unknown)}; there are {', '.join(CASES)}")
    if options.turns is not None and options.turns < 1:
        made.error(f"--turns takes a number of at least 1, not {options.turns}")
    try:
        peers = chosen_peers(options.peers)
        cases = [CASES[name] for name in options.names or CASES]
        if refused := why_not_published(options):
            made.error(refused)
        if options.source is not None:
            report = from_json(options.source.read_bytes())
        else:
            report = trio.run(run_until_signal, options, peers, command_text(given), cases)
        write(report, options)
    except (ValueError, OSError) as error:
        made.error(str(error))
    except KeyboardInterrupt:
        kept = f"{options.json} has the cases that had ended" if options.json else "nothing was written"
        say(f"interrupted: {kept}")
        return 130
    for warning in report.warnings():
        say(f"caveat: {warning}")
    return int(any(case.failure for case in report.cases))


if __name__ == "__main__":
    sys.exit(main())
