"""`python -m benchmarks`: the engine beside its peers and beside the floor, case by case, in one run.

Rule: this parses, runs and writes; what a case does is in `cases/`, what is said of it in `harness/`. Progress goes to
standard error, the tables to standard output. What is published (`--summary`, and a file with the marker lines) comes
from a quiet machine, or the run is refused before it begins. Exit status: 0; 1 when a case of ours failed; 2 when used
wrongly or refused.
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
from benchmarks.harness.report import PeerSaid, Report, from_json, to_json
from benchmarks.harness.run import Outcome, open_bench, run_cases, say
from benchmarks.harness.summary import pictures, summary
from cdpengine._nursery import open_body_nursery

TURNS = 4
QUICK_TURNS = 3


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="The engine beside its peers and beside the floor, in turns in one run.",
        epilog="The peers are installed by scripts/peers.sh; one that is not there is named, and left out.",
    )
    made.add_argument(
        "names", nargs="*", metavar="CASE", help="cases to run; all of them where none is named"
    )
    made.add_argument(
        "--peers", default="all", metavar="NAMES", help="all, none, or names with commas between them"
    )
    made.add_argument(
        "--quick", action="store_true", help="fewer sizes, shorter turns: some four minutes for all"
    )
    made.add_argument(
        "--turns", type=int, metavar="N", help=f"rounds of each figure ({TURNS}; quick: {QUICK_TURNS})"
    )
    made.add_argument(
        "--browser", metavar="PATH", help="the browser of all sides, as cdpengine.find_browser takes it"
    )
    made.add_argument("--json", type=Path, metavar="FILE", help="write the report, with every value")
    made.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page with plots")
    made.add_argument(
        "--markdown",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write the report as Markdown, any number of times; where FILE has the two marker lines, the block between them",
    )
    made.add_argument(
        "--summary",
        type=Path,
        metavar="FILE",
        help="write the summary as Markdown, and its plots into the folder of that name beside it",
    )
    made.add_argument(
        "--under-load",
        action="store_true",
        help="publish also what a machine with other work to do has shown",
    )
    made.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="take no figures: read a --json file"
    )
    made.add_argument("--list", action="store_true", help="name the cases, and what each takes")
    return made


def chosen_peers(text: str) -> tuple[str, ...]:
    """Return the peers that `--peers` names. Raises ValueError for one that there is not."""
    if text == "all":
        return PEER_NAMES
    return () if text == "none" else known(name.strip() for name in text.split(","))


def command_text(arguments: Sequence[str], program: str = "benchmarks") -> str:
    """Return the command as it is said in the report: of a path, the file's name is enough."""
    return shlex.join(
        ["python", "-m", program, *(Path(each).name if "/" in each else each for each in arguments)]
    )


def peers_said(bench: Bench) -> tuple[PeerSaid, ...]:
    """Return what the peers said of themselves during the run."""
    said = []
    for name in bench.peer_names:
        peer = bench.group.said.get(name)
        if peer is None:
            said.append(PeerSaid(name, cannot="no case asked for it"))
        elif peer.version:
            said.append(PeerSaid(name, peer.version, peer.attached))
        else:
            said.append(PeerSaid(name, cannot=peer.refusal))
    return tuple(said)


async def take(
    options: argparse.Namespace, peers: tuple[str, ...], command: str, cases: Sequence[Case]
) -> Report:
    """Run the cases and return the report. Its JSON is written after each case, so that a run that is ended leaves it."""
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
                peers=peers_said(bench),
                cases=outcome.cases,
                measurements=tuple(bench.measurements),
            )

        def keep(outcome: Outcome) -> None:
            if options.json:
                options.json.parent.mkdir(parents=True, exist_ok=True)
                options.json.write_bytes(to_json(report_of(outcome)))

        return report_of(await run_cases(bench, cases, keep))


async def until_told_to_end(
    options: argparse.Namespace, peers: tuple[str, ...], command: str, cases: Sequence[Case]
) -> Report:
    """Run the cases; a SIGTERM ends them as a Ctrl-C does, so that nothing stays behind."""
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
    """Return why this run may not be published; "" where it may, or is not to be."""
    published = options.summary or any(has_block(path) for path in options.markdown)
    if not published or options.under_load or options.source is not None:
        return ""
    loaded = busy(look_at_load(), core_count())
    return f"{loaded}: wait until it is quiet, or publish with --under-load" if loaded else ""


def has_block(path: Path) -> bool:
    """Whether a file has the marker lines."""
    return path.exists() and "<!-- benchmarks:" in path.read_text("utf-8")


def write(report: Report, options: argparse.Namespace) -> None:
    """Write what was asked for; the JSON first, since all else can be made of it."""
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
    """Write the tables, or the block of a file that has its markers; a run without its figures leaves that as it is."""
    if not has_block(path):
        path.write_text(whole(report), "utf-8")
    elif without := missing(report, path.read_text("utf-8")):
        say(f"left {path} as it is: this run has no figure of {', '.join(without)}")
        return
    else:
        path.write_text(put_block(path.read_text("utf-8"), report), "utf-8")
    say(f"wrote {path}")


def write_summary(report: Report, path: Path) -> None:
    """Write the summary and its plots; plots of an earlier run that this one has not are removed."""
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
        made.error(f"--turns takes a number from 1 on, not {options.turns}")
    try:
        peers = chosen_peers(options.peers)
        cases = [CASES[name] for name in options.names or CASES]
        if refused := why_not_published(options):
            made.error(refused)
        if options.source is not None:
            report = from_json(options.source.read_bytes())
        else:
            report = trio.run(until_told_to_end, options, peers, command_text(given), cases)
        write(report, options)
    except (ValueError, OSError) as error:
        made.error(str(error))
    except KeyboardInterrupt:
        kept = f"{options.json} has the cases that had ended" if options.json else "nothing was written"
        say(f"interrupted: {kept}")
        return 130
    for warning in report.warnings():
        say(f"to be read with care: {warning}")
    return int(any(case.failure for case in report.cases))


if __name__ == "__main__":
    sys.exit(main())
