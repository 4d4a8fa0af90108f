"""Fixtures and options for all tests: leak checks, short error messages, wire logs, sampling and reruns."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from error_texts import ErrorTexts
from rounds import rounds, run_slow, sample_of

from cdpengine._api import ref_tables

# Shells start background jobs with Ctrl-C ignored, and `nohup` ignores the end of the terminal. Every program that a test
# starts would inherit that.
for inherited in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
    if signal.getsignal(inherited) is signal.SIG_IGN:
        signal.signal(inherited, signal.default_int_handler if inherited is signal.SIGINT else signal.SIG_DFL)

KERNEL_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()

ERROR_TEXTS = ErrorTexts(os.environ.get("CDPENGINE_ERROR_TEXTS"))
ERROR_TEXTS.install()

WIRE_LOG = pytest.StashKey[list[str]]()


@pytest.fixture
def wire_log(request: pytest.FixtureRequest) -> list[str]:
    """Lines that are printed when the test fails; fixtures append to it."""
    log: list[str] = request.node.stash.setdefault(WIRE_LOG, [])
    return log


def children() -> set[int]:
    """Return the ids of this process's children, zombies included."""
    if KERNEL_LISTS_CHILDREN:
        try:
            # A file a thread; cheap, since it is asked before and after every test.
            return {
                int(child)
                for thread in os.listdir("/proc/self/task")
                for child in Path(f"/proc/self/task/{thread}/children").read_text().split()
            }
        except OSError:
            pass  # a thread ended while we looked, and its children are another's now
    return children_by_parent()


def children_by_parent() -> set[int]:
    """Return the same by the parents of all processes of the machine: slower."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while we looked
        if int(fields[1]) == os.getpid():
            found.add(int(stat.parent.name))
    return found


@pytest.fixture(autouse=True)
def no_process_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    if "shared_endpoint" in request.fixturenames:
        request.getfixturevalue("shared_endpoint")  # lives for the whole run, so it is there before the count
    before = children()
    yield
    left = children() - before
    assert not left, f"the test left processes behind: {left}"


@pytest.fixture(autouse=True)
def error_texts_are_short(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which the engine made an error whose text is too long, or says the same twice."""
    ERROR_TEXTS.begin(request.node.nodeid)
    yield
    wrong = ERROR_TEXTS.end()
    assert not wrong, "\n".join(wrong)


@pytest.fixture(autouse=True)
def refs_begin_at_one() -> None:
    """Give each test new ref tables: numbers go on where a browser of an earlier test died."""
    ref_tables._of_thread.tables = ref_tables.RefTables()


_SET_BY_COMMANDS = ("CDPENGINE_RECORD", "CDPENGINE_TRACE")


@pytest.fixture(autouse=True)
def recording_as_before() -> Iterator[None]:
    """Take back what a command that ran in this process said of recordings: its options set the environment."""
    before = {name: value for name, value in os.environ.items() if name.startswith(_SET_BY_COMMANDS)}
    yield
    for name in [name for name in os.environ if name.startswith(_SET_BY_COMMANDS) and name not in before]:
        del os.environ[name]
    os.environ.update(before)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Replace lone surrogates in a report. A worker could not send it, and the whole run would end."""
    return _without_surrogates((yield))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_without_surrogates, value))
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
    report = yield
    lines = item.stash.get(WIRE_LOG, [])
    if report.when == "call" and report.failed and lines:
        report.sections.append(("wire log, latest messages", "\n".join(lines[-80:])))
    return report


# --- what is run, and in what order ------------------------------------------------------------------------------

RUN_SLOW = "--run-slow"
TRANSPORT = "--transport"
TRANSPORTS = ("pipe", "websocket")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        RUN_SLOW, action="store_true", help="also run slow tests, and all cases of sampled tests"
    )
    parser.addoption(
        TRANSPORT,
        choices=TRANSPORTS,
        help="connect to every browser over this transport, including browsers that tests launch",
    )


SLOW_FILES = (
    "test_canaries_chrome.py", "test_walks.py", "test_cluster.py", "test_service.py", "test_process.py", "test_mcp.py", "test_shell.py", "test_cli.py", "test_act.py", "test_replay.py",
    "test_expectations.py", "test_waiting.py", "test_examples.py", "test_recovery_pages.py", "test_recorder.py",
    "test_fill.py", "test_measure.py", "test_navigation.py", "test_launch.py", "test_deadlines_of_objects.py", "test_cancellation_of_methods.py",
    "test_pictures_chrome.py", "test_extras.py", "test_stale_refs.py", "test_drift.py",
    "test_reuse.py", "test_discretion.py", "test_hangs.py", "test_repl.py", "test_evaluation_sessions_chrome.py",
    "test_hard_pages.py", "test_activity.py", "test_select.py", "test_act_scripts.py", "test_snapshot_frames.py",
    "test_evaluate.py", "test_drag.py", "test_dialogs.py", "test_proxy_faults.py", "test_click_places.py",
    "test_ending_signals.py", "test_click.py", "test_finding.py", "test_deadlines.py", "test_proxy.py",
    "test_cookies_and_storages.py", "test_contexts.py", "test_pages.py", "test_no_foreign_errors.py",
    "test_decompression.py", "test_drag_between_processes.py", "test_first_content.py", "test_emulation_pages.py",
    "test_content_visibility.py", "test_protocol_chrome.py", "test_imports.py", "test_hindrances.py",
    "test_responses.py", "test_dom_source.py", "test_click_refusals.py", "test_routes.py", "test_replay_server.py",
    "test_delivery_table.py", "test_values.py", "test_trickling_endpoints.py", "test_pointer_frames.py",
    "test_private_browsers.py", "test_drag_lists.py", "test_cancellation_chrome.py", "test_pointer_delivery.py",
    "test_lines_of_sources.py", "test_content.py", "test_cli_interrupted.py",
)  # fmt: skip
"""Files of five seconds and more, the slowest first."""


def usual_run(items: list[pytest.Item]) -> set[str]:
    """Return the ids of the tests that a run without `--run-slow` has: none that is slow, a sample of the sampled."""
    usual = {item.nodeid for item in items if not item.get_closest_marker("slow")}
    sampled: dict[tuple[str, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and item.nodeid in usual and item.get_closest_marker("sample"):
            assert item.parent is not None
            sampled.setdefault((item.parent.nodeid, item.originalname), []).append(item)
    for cases in sampled.values():
        mark = cases[0].get_closest_marker("sample")
        assert mark is not None
        places = places_of(cases)
        kept = sample_of(places, *mark.args, **mark.kwargs)
        usual -= {
            case.nodeid
            for case, place in zip(cases, places, strict=True)
            if place not in kept and not case.get_closest_marker("always")
        }
    return usual


def places_of(cases: list[pytest.Function]) -> list[tuple[int, ...]]:
    """Return where the members of each case stand in the tables of its `parametrize`, one table a dimension."""
    tables: list[list[str]] = []
    for mark in cases[0].iter_markers("parametrize"):
        names = mark.args[0]
        tables.append([name.strip() for name in names.split(",")] if isinstance(names, str) else list(names))
    # pytest's own `indices` count the cases of the product.
    members: list[dict[tuple[int, ...], int]] = [{} for _ in tables]
    return [
        tuple(
            known.setdefault(tuple(id(case.callspec.params[name]) for name in table), len(known))
            for table, known in zip(tables, members, strict=True)
        )
        for case in cases
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect slow tests unless `--run-slow` is given, and put the slow files first.

    Workers take files in this order. The short files fill up the end of the run.
    """
    if not config.getoption(RUN_SLOW):
        run = usual_run(items)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in run])
        items[:] = [item for item in items if item.nodeid in run]
    places = {name: place for place, name in enumerate(SLOW_FILES)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))
    if hasattr(config, "workerinput"):  # other tests run at the same time, and can make one miss a deadline
        for item in items:
            if item.nodeid.startswith(BROWSER_TESTS):
                item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what is there before the first test: thousands of tests, looked at each time."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    run_slow(config.getoption(RUN_SLOW))
    transport = config.getoption(TRANSPORT)
    if transport is not None:
        os.environ["CDPENGINE_TRANSPORT"] = transport
    hypothesis.settings.register_profile("shared machine", deadline=None, max_examples=rounds(16, 100))
    hypothesis.settings.load_profile("shared machine")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reruns(), "reruns")


# --- browser tests that pass only at the second try ---------------------------------------------------------------

BROWSER_TESTS = "tests/chrome/"

MOST_RERUNS = 5
"""Browser tests that may fail once and pass at the second try, per run."""


class Reruns:
    """Lists the tests that were run twice with their failures, and fails a run with more than `MOST_RERUNS`.

    On a busy machine a browser test can miss its deadline because of the tests next to it.
    """

    def __init__(self) -> None:
        self._failures: list[tuple[str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome: str = report.outcome  # pytest-rerunfailures adds "rerun" to pytest's own
        if outcome == "rerun":
            self._failures.append((report.nodeid, report.longreprtext))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._failures:
            terminalreporter.section(f"run twice: {len(self._failures)}, at most {MOST_RERUNS} may be")
            for name, failure in self._failures:
                terminalreporter.line(name, bold=True)
                terminalreporter.line(failure)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self._failures) > MOST_RERUNS and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
