"""Everyday work on many pages in parallel: in a pool with over 50 open pages, in `cdpengine map`, and in a
cluster.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
from cluster_jobs import SUPPORT
from command_line import run_here
from everyday_jobs import NotingSite, begin, do_all, expected, go_on
from pytest_httpserver import HTTPServer
from rounds import rounds

from cdpengine.cluster import BrowserCluster
from cdpengine.pool import BrowserPool

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(300)]

AT_ONCE = 55
COUNT = rounds(6, 24)


@pytest.fixture
def site(httpserver: HTTPServer) -> NotingSite:
    return NotingSite(httpserver)


@pytest.mark.slow
async def test_refs_of_over_fifty_open_pages_of_a_pool(site: NotingSite) -> None:
    """All pages are open and have had a snapshot before the first action."""
    names = [f"p{number}" for number in range(AT_ONCE)]
    looked_at, done = trio.Event(), {}
    waiting = set(names)

    async def work(pool: BrowserPool, name: str) -> None:
        async with pool.page() as page:
            snapshot = await begin(page, site.url(name))
            waiting.discard(name)
            if not waiting:
                looked_at.set()
            await looked_at.wait()
            done[name] = await go_on(page, snapshot)

    async with BrowserPool(1, pages=AT_ONCE) as pool:
        with trio.fail_after(250):
            async with trio.open_nursery() as nursery:
                for name in names:
                    nursery.start_soon(work, pool, name)
    assert done == {name: expected(name) for name in names}
    assert site.missing(names) == []


def test_map_runs_job_for_each_line(
    site: NotingSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"m{number}" for number in range(COUNT)]
    (tmp_path / "in.txt").write_text("".join(f"{site.url(name)}\n" for name in names))
    options = ["-o", str(tmp_path / "o.jsonl"), "--pages", "3"]
    done = run_here("map", f"{SUPPORT / 'everyday_jobs.py'}:do_all", str(tmp_path / "in.txt"), *options)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text("utf-8").splitlines()]
    assert {each["input"].rpartition("=")[2]: each["value"] for each in lines} == {
        name: expected(name) for name in names
    }
    assert site.missing(names) == []


@pytest.mark.slow
async def test_cluster_runs_job_for_each_item(site: NotingSite) -> None:
    names = [f"c{number}" for number in range(COUNT)]
    async with BrowserCluster(workers=2, pages=3) as cluster:
        results = cluster.map(do_all, [site.url(name) for name in names], ordered=True)
        assert [result.unwrap() async for result in results] == [expected(name) for name in names]
    assert site.missing(names) == []
