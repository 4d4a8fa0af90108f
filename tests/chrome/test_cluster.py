"""Clusters: jobs on pages of several workers, cancelled or lost with their worker, without leftovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from busy_machine import slack
from cluster_jobs import (
    double,
    environment,
    hang,
    leases_of,
    local_scheduler,
    note_and_double,
    read_notes,
    results_of_all_kinds,
    wait_until_free,
    wait_until_noted,
    work,
    worker_of,
)
from processes import processes_of
from rounds import slow_but

import cdpengine
from cdpengine.cluster import BrowserCluster, BrowserWorker, on_page
from cdpengine.pool import JobResult

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler with two workers, for the tests of this file."""
    folder = tmp_path_factory.mktemp("s")
    with local_scheduler(folder) as address:
        yield address
    assert not processes_of(folder)
    assert not list(folder.iterdir())


@pytest.fixture
async def cluster(scheduler: str) -> AsyncIterator[BrowserCluster]:
    async with BrowserCluster(scheduler, pages=2) as cluster:
        yield cluster


# --- results ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ordered", slow_but([False, True], [True]))
async def test_each_item_has_one_result(cluster: BrowserCluster, ordered: bool) -> None:
    assert cluster.capacity == 4
    results: dict[int, JobResult[object]] = {}
    async for result in cluster.map(work, range(8), ordered=ordered):
        assert result.index not in results
        results[result.index] = result
    assert set(results) == set(range(8))
    assert not ordered or list(results) == list(range(8))
    expected = {
        1: LookupError, 2: cdpengine.errors.EvaluationTimeoutError, 3: cdpengine.errors.InvalidArgumentError,
        4: cdpengine.errors.InvalidArgumentError, 5: RuntimeError,
    }  # fmt: skip
    for number, result in results.items():
        assert result.item == number
        if number % 8 in expected:
            assert type(result.error) is expected[number % 8], result
            assert result.error is not None
            assert number % 8 == 5 or result.attempts[-1].error is result.error
        else:
            assert result.unwrap() == number * 2
            (attempt,) = result.attempts
            assert attempt.browser.startswith("browser 1.1 of tcp://127.0.0.1:")
    assert "a and b" in str(results[4].error)
    assert await leases_of(cluster) == 0


async def test_both_workers_run_jobs_and_return_page_values(cluster: BrowserCluster) -> None:
    workers = {result.unwrap() async for result in cluster.map(worker_of, range(12))}
    assert len(workers) == 2
    assert os.getpid() not in workers
    page = "data:text/html,<button onclick='alert(1)'>Go</button>"
    result = await cluster.run(results_of_all_kinds, page)
    given: dict[str, Any] = result.unwrap()
    assert given["snapshot"].find(role="button", name="Go").id == "e1"
    assert given["navigation"].url == page
    assert given["outcome"].dialogs[0].message == "1"
    assert given["outcome"].dialogs[0].page is None
    assert given["metrics"].nodes > 0
    assert given["cookies"] == []
    assert given["statistics"].pages >= 1


async def test_function_of_main_program_is_sent_with_its_code(cluster: BrowserCluster) -> None:
    factor = 3

    async def times(page: cdpengine.Page, number: int) -> int:
        return int(await page.evaluate(f"{number} * {factor}"))

    async def times_stream(page: cdpengine.Page, number: int) -> str:
        return f"{sys.stdout} {stream} {number}"

    stream = sys.stdout
    assert (await cluster.run(times, 7)).unwrap() == 21
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="the function"):
        await cluster.run(times_stream, 7)
    item = await cluster.run(double, sys.stdout)  # type: ignore[arg-type]
    assert isinstance(item.error, cdpengine.errors.InvalidArgumentError)


async def test_items_are_pulled_as_results_are_taken(cluster: BrowserCluster) -> None:
    pulled = 0

    async def numbers() -> AsyncIterator[int]:
        nonlocal pulled
        for number in range(100):
            pulled += 1
            yield number

    async with cluster.map(double, numbers(), ahead=4) as results:
        taken = 0
        async for _ in results:
            taken += 1
            assert pulled <= taken + 4
            if taken == 6:
                break
    assert pulled <= 10
    await wait_until_free(cluster)


async def test_a_program_of_dask_submits_functions_of_a_page(cluster: BrowserCluster) -> None:
    def program() -> tuple[object, ...]:
        from distributed import Client

        with Client(cluster.scheduler, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.register_plugin(BrowserWorker(pages=2))
            futures = client.map(on_page(double), range(6), resources={"pages": 1})
            values = client.gather(futures)
            failed = client.submit(on_page(work), 1, resources={"pages": 1})
            unsendable = client.submit(on_page(work), 3, resources={"pages": 1})
            return values, failed.exception(), unsendable.exception()

    values, failed, unsendable = await trio.to_thread.run_sync(program)
    assert values == [0, 2, 4, 6, 8, 10]
    assert isinstance(failed, LookupError)
    assert isinstance(unsendable, cdpengine.errors.InvalidArgumentError)


async def test_pools_of_other_options_are_refused(cluster: BrowserCluster) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="browsers of the cluster at tcp"):
        async with BrowserCluster(cluster.scheduler, pages=3):
            pytest.fail("accepted options that differ from the workers' pools")


# --- cancellation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", slow_but(["index", "loop", "run", "dask"], ["index", "dask"]))
async def test_a_job_that_is_cancelled_frees_its_page(
    cluster: BrowserCluster, tmp_path: Path, way: str
) -> None:
    notes = tmp_path / "notes"
    begun = 0.0
    match way:
        case "index":
            async with cluster.map(hang, [str(notes)] * 2) as results:
                await wait_until_noted(notes, 2)
                begun = trio.current_time()
                assert results.cancel(0)
                assert results.cancel(1)
                assert not results.cancel(2)
                ended = [result async for result in results]
            assert [type(each.error) for each in ended] == [cdpengine.errors.JobCancelledError] * 2
        case "loop":
            async with cluster.map(hang, [str(notes)] * 9):
                await wait_until_noted(notes, 4)
                begun = trio.current_time()
        case "run":
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(cluster.run, hang, str(notes))
                    await wait_until_noted(notes, 1)
                    begun = trio.current_time()
                    scope.cancel()
        case "dask":

            def program(told: trio.Event) -> None:
                from distributed import Client

                with Client(cluster.scheduler, set_as_default=False) as client:  # type: ignore[no-untyped-call]
                    future = client.submit(on_page(hang), str(notes), resources={"pages": 1})
                    trio.from_thread.run(wait_until_noted, notes, 1)
                    trio.from_thread.run_sync(told.set)
                    future.cancel()

            told = trio.Event()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.to_thread.run_sync, program, told)
                await told.wait()
                begun = trio.current_time()
                await wait_until_free(cluster)
                assert trio.current_time() - begun < slack(0.5)
    await wait_until_free(cluster)
    assert trio.current_time() - begun < slack(0.5) or way == "dask"
    assert len(read_notes(notes)) == {"index": 2, "loop": 4}.get(way, 1)


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", ["enter", "run", "map", "aclose", "statistics"])
@pytest.mark.parametrize("after", [0.0, 0.02, 0.2])
async def test_cancellation_leaves_nothing(
    cluster: BrowserCluster, tmp_path: Path, way: str, after: float
) -> None:
    notes = str(tmp_path / "notes")

    async def go() -> None:
        match way:
            case "enter":
                while True:
                    async with BrowserCluster(cluster.scheduler, pages=2) as other:
                        await other.run(double, 1)
            case "run":
                await cluster.run(hang, notes)
            case "map":
                async for _ in cluster.map(hang, [notes] * 5):
                    pass
            case "aclose":
                results = cluster.map(hang, [notes] * 5)
                await trio.lowlevel.checkpoint()
                await results.aclose()
                await trio.sleep_forever()
            case "statistics":
                while True:
                    await cluster.statistics()

    with trio.fail_after(20), trio.move_on_after(after) as scope:
        await go()
    assert scope.cancelled_caught
    await wait_until_free(cluster)
    assert (await cluster.run(double, 4)).unwrap() == 8


# --- lost workers -----------------------------------------------------------------------------------------------


async def test_a_worker_that_is_killed(cluster: BrowserCluster, tmp_path: Path) -> None:
    """Two runs are active: one with repeatable jobs, and one without."""
    results: dict[int, dict[int, JobResult[int]]] = {2: {}, 0: {}}
    notes = {retries: tmp_path / f"notes-{retries}" for retries in results}

    async def take(retries: int) -> None:
        # The job that kills its worker belongs to the repeatable run.
        items = [(str(notes[retries]), number if retries else number + 100) for number in range(16)]
        async for result in cluster.map(note_and_double, items, retries=retries):
            assert result.index not in results[retries]
            results[retries][result.index] = result

    async with trio.open_nursery() as nursery:
        for retries in results:
            nursery.start_soon(take, retries)
    for retries, each in results.items():
        assert sorted(each) == list(range(16))
        counts = Counter(read_notes(notes[retries]))
        lost = [result for result in each.values() if result.attempts[:-1] or not result.ok]
        if retries:
            assert [each[number].unwrap() for number in range(16)] == [2 * number for number in range(16)]
            assert each[5] in lost
            assert counts["5"] == 2
            assert max(counts.values()) <= 2
        else:  # no job starts twice, and running jobs end with a named error
            assert set(counts.values()) == {1}
            assert {str(100 + index) for index, result in each.items() if result.ok} <= set(counts)
            assert all(isinstance(result.error, cdpengine.errors.WorkerLostError) for result in lost)
        for result in lost:
            assert isinstance(result.attempts[0].error, cdpengine.errors.WorkerLostError)
            assert result.attempts[0].browser.startswith("tcp://127.0.0.1:")
    with trio.fail_after(60):  # another worker with its own pool replaces the lost one
        while len(await cluster.statistics()) < 2 or cluster.capacity < 4:  # noqa: ASYNC110
            await trio.sleep(0.05)


# --- the cluster of a program without a scheduler -----------------------------------------------------------------

PROGRAM = """
import sys, trio
from pathlib import Path
from cdpengine.cluster import BrowserCluster

async def double(page, number):
    return await page.evaluate(f"{number} * 2")

async def hang(page, notes):
    Path(notes).write_text("began")
    await page.evaluate("while (true) {}", timeout=60)

async def main():
    async with BrowserCluster(workers=1, pages=2) as cluster:
        print(sorted([result.unwrap() async for result in cluster.map(double, range(4))]), flush=True)
        if sys.argv[1:]:
            await cluster.run(hang, sys.argv[1])

trio.run(main)
"""


@pytest.fixture
def temporary_folder() -> Iterator[Path]:
    """A folder with a short name, because Chrome's socket paths must be short."""
    with tempfile.TemporaryDirectory(prefix="cdp") as folder:
        yield Path(folder)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param("return", marks=pytest.mark.slow),
        "SIGINT",
        pytest.param("SIGKILL", marks=pytest.mark.slow),
    ],
)
async def test_a_program_of_its_own(tmp_path: Path, temporary_folder: Path, end: str) -> None:
    folder, notes = temporary_folder, tmp_path / "notes"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    arguments = [] if end == "return" else [str(notes)]
    process = await trio.lowlevel.open_process(
        [sys.executable, str(program), *arguments],
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with trio.fail_after(60):
        if end != "return":
            await wait_until_noted(notes, 1)
            process.send_signal(getattr(signal, end))
        await process.wait()
        output = b"".join([part async for part in process.stdout]).decode()
        errors = b"".join([part async for part in process.stderr]).decode()
    assert output == "[0, 2, 4, 6]\n", errors
    if end == "return":
        assert (process.returncode, errors) == (0, "")
    elif end == "SIGINT":
        assert process.returncode == -signal.SIGINT
        assert errors.endswith("KeyboardInterrupt\n")
        assert errors.count("Traceback") == 1
    with trio.fail_after(30):  # a killed program cannot wait for its cluster
        while list(folder.iterdir()) or processes_of(folder):
            assert end == "SIGKILL"
            await trio.sleep(0.05)
