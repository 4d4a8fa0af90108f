"""Replacement of a pool's browser while the others continue, and pools whose browsers do not start."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import attrs
import pytest
import trio
from busy_machine import slack
from pools import kill_browser, wait_until, wait_until_ready
from private_browsers import TOKEN, private_browsers
from pytest_httpserver import HTTPServer
from rounds import slow_but

import cdpengine
from cdpengine.pool import BrowserLimits, BrowserPool, LaunchedBrowsers, RemoteBrowsers, register_figures

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(120)]


async def add(page: cdpengine.Page, number: int) -> int:
    return int(await page.evaluate(f"1 + {number}"))


async def test_unresponsive_browser_is_replaced() -> None:
    limits = BrowserLimits(hung_after=slack(1))
    async with BrowserPool(browsers=2, pages=2, limits=limits) as pool:
        await wait_until_ready(pool, 2)
        async with pool.page() as other:
            with (
                pytest.raises(cdpengine.errors.LeaseEndedError, match="it did not answer for"),
                trio.fail_after(60),
            ):
                async with pool.page() as page:
                    await kill_browser(page, signal.SIGSTOP)
                    await trio.sleep_forever()
            assert await other.evaluate("1 + 1") == 2
        await wait_until_ready(pool, 2)
        await wait_until(lambda: pool.statistics().replaced == {"hung": 1})


@pytest.mark.parametrize("overlap", slow_but([True, False], [False]), ids=["launched", "remote"])
async def test_browser_above_its_lease_limit_is_replaced(overlap: bool) -> None:
    async with private_browsers() as service:
        members: LaunchedBrowsers | RemoteBrowsers = (
            LaunchedBrowsers() if overlap else RemoteBrowsers(f"ws://127.0.0.1:{service.port}?token={TOKEN}")
        )
        async with BrowserPool(members, pages=2, limits=BrowserLimits(leases=4)) as pool:
            results = [result async for result in pool.map(add, range(13), ordered=True)]
            assert [result.unwrap() for result in results] == list(range(1, 14))
            served = Counter(result.attempts[0].browser for result in results)
            assert served == {"browser 1.1": 4, "browser 1.2": 4, "browser 1.3": 4, "browser 1.4": 1}
            assert pool.statistics().ended_by_name == 0
            await wait_until(lambda: pool.statistics().replaced == {"share": 3})
            if not overlap:
                assert service.started <= 1 + 4 * 2  # and the connections that stop scripts


async def test_lease_of_retiring_browser_can_finish(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("<title>x</title>", content_type="text/html")
    limits = BrowserLimits(leases=2, retire_within=slack(1.5))  # the page must be open by then
    async with BrowserPool(pages=2, limits=limits) as pool:
        async with pool.page(httpserver.url_for("/"), context="anna") as page:
            await page.evaluate("document.cookie = 'name=anna; max-age=600'")
        ended = pytest.raises(cdpengine.errors.LeaseEndedError, match="it had served its share of 2 leases")
        with trio.fail_after(60), ended:
            async with pool.page() as page:
                assert await page.evaluate("1 + 1") == 2
                await trio.sleep_forever()
        async with pool.page(httpserver.url_for("/"), context="anna") as page:
            assert page.browser.version.product
            assert pool.statistics().browsers[-1].name == "browser 1.2"


async def test_named_context_passes_on_its_state(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("<title>x</title>", content_type="text/html")
    async with BrowserPool(pages=2, limits=BrowserLimits(leases=2)) as pool:
        for number in range(6):
            async with pool.page(httpserver.url_for("/"), context="anna") as page:
                before = await page.evaluate("[document.cookie, localStorage.n ?? null]")
                assert before == ([f"n={number}", str(number)] if number else ["", None])
                await page.evaluate(
                    f"document.cookie = 'n={number + 1}; max-age=60'; localStorage.n = {number + 1}"
                )
        await wait_until(lambda: pool.statistics().replaced == {"share": 3})
        with pytest.raises(cdpengine.errors.LeaseEndedError):
            async with pool.page(httpserver.url_for("/"), context="anna") as page:
                await kill_browser(page)
                await trio.sleep_forever()
        async with pool.page(
            httpserver.url_for("/"), context="anna"
        ) as page:  # a killed browser passes on no state
            assert await page.evaluate("[document.cookie, localStorage.n ?? null]") == ["", None]


async def test_browser_above_its_memory_limit_is_replaced() -> None:
    limits = BrowserLimits(memory=700 << 20, retire_within=0.2)
    async with BrowserPool(pages=2, limits=limits) as pool:
        await wait_until(lambda: pool.statistics().browsers[0].memory > 50 << 20)
        with pytest.raises(cdpengine.errors.LeaseEndedError, match=r"its processes took \d+ MB of 700 MB"):
            async with pool.page() as page:
                await page.evaluate(
                    "void (globalThis.held = Array.from({length: 90}, () => new Uint8Array(1 << 23).fill(7)))",
                    timeout=60,
                )
                await trio.sleep(30)
        assert (await pool.run(add, 1)).unwrap() == 2
        assert pool.statistics().replaced == {"memory": 1}


async def test_browser_above_its_age_limit_is_replaced() -> None:
    async with BrowserPool(pages=1, limits=BrowserLimits(age=0.3)) as pool:
        names = {pool.statistics().browsers[0].name}
        for number in range(200):
            result = await pool.run(add, number)
            assert result.unwrap() == number + 1
            names.add(result.attempts[0].browser)
            if len(names) > 2:
                break
        assert len(names) > 2
        assert pool.statistics().ended_by_name == 0


async def test_work_is_distributed_by_weight_and_room() -> None:
    members = [LaunchedBrowsers(pages=4), LaunchedBrowsers(pages=2, weight=2)]
    async with BrowserPool(members) as pool:
        await wait_until_ready(pool, 2)
        assert pool.capacity == 6
        order: list[str] = []
        async with trio.open_nursery() as nursery:
            end = trio.Event()

            async def hold(*, task_status: trio.TaskStatus[None]) -> None:
                before = {each.name: each.leases for each in pool.statistics().browsers}
                async with pool.page():
                    now = {each.name: each.leases for each in pool.statistics().browsers}
                    order.extend(name[:9] for name in now if now[name] > before[name])
                    task_status.started()
                    await end.wait()

            for _ in range(6):
                await nursery.start(hold)
            end.set()
    # Used shares: quarters of the first, and, with weight 2, quarters of the second too.
    assert Counter(order) == {"browser 1": 4, "browser 2": 2}
    assert Counter(order[:4]) == {"browser 1": 2, "browser 2": 2}


# --- browsers that do not start -----------------------------------------------------------------------------------


async def test_pool_whose_browsers_do_not_start(tmp_path: Path) -> None:
    program = tmp_path / "chrome"
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    failing = LaunchedBrowsers(2, options={"executable": program})
    with pytest.raises(cdpengine.errors.LaunchFailedError, match="exit code 7"):
        async with BrowserPool(failing):
            pytest.fail("the pool opened")
    with pytest.raises(cdpengine.errors.LaunchFailedError):
        async with BrowserPool(launch={"executable": tmp_path / "nothing"}):
            pytest.fail("the pool opened")
    with pytest.raises(cdpengine.errors.ConnectFailedError):
        async with BrowserPool(RemoteBrowsers("http://127.0.0.1:1")):
            pytest.fail("the pool opened")
    async with BrowserPool([failing, LaunchedBrowsers()], pages=1) as pool:  # one of three starts
        await wait_until(lambda: pool.statistics().failed_starts >= 3)
        assert (await pool.run(add, 1)).unwrap() == 2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"browsers": 0}, "browsers"),
        ({"browsers": True}, "browsers"),
        ({"browsers": "two"}, "browsers"),
        ({"browsers": []}, "browsers"),
        ({"browsers": [1]}, "browsers"),
        ({"pages": 0}, "pages"),
        ({"timeout": -1}, "timeout"),
        ({"browsers": LaunchedBrowsers(), "launch": {"headless": False}}, "launch"),
    ],
)
def test_invalid_pools_are_refused(arguments: dict[str, object], what: str) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match=f"^{what}: "):
        BrowserPool(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "arguments", "what"),
    [
        (LaunchedBrowsers, {"count": 0}, "count"),
        (LaunchedBrowsers, {"pages": 0}, "pages"),
        (LaunchedBrowsers, {"weight": 0}, "weight"),
        (LaunchedBrowsers, {"options": {"user_data_dir": "/tmp/x"}}, "options"),
        (RemoteBrowsers, {"endpoint": "127.0.0.1:9222"}, "endpoint"),
        (RemoteBrowsers, {"endpoint": "http://127.0.0.1:9222", "connections": 0}, "connections"),
        (BrowserLimits, {"leases": 0}, "leases"),
        (BrowserLimits, {"memory": 1.5}, "memory"),
        (BrowserLimits, {"age": 0}, "age"),
        (BrowserLimits, {"hung_after": -1}, "hung_after"),
        (BrowserLimits, {"retire_within": "soon"}, "retire_within"),
    ],
)
def test_members_and_limits_are_checked(kind: type, arguments: dict[str, object], what: str) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match=f"^{what}: "):
        kind(**arguments)


async def test_items_and_options_of_jobs_are_checked() -> None:
    async with BrowserPool() as pool:
        for items in ("https://a.example/", b"1", 5):
            with pytest.raises(cdpengine.errors.InvalidArgumentError, match="^items: "):
                pool.map(add, items)  # type: ignore[arg-type]
        for options in ({"retries": -1}, {"retries": True}, {"timeout": -1}, {"tries": 2}):
            with pytest.raises(cdpengine.errors.InvalidArgumentError):
                pool.map(add, [1], **options)
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="^ahead: "):
            pool.map(add, [1], ahead=0)


def test_member_repr_contains_no_secret() -> None:
    member = RemoteBrowsers("wss://a.example/?token=abracadabra", headers={"Authorization": "abracadabra"})
    assert "abracadabra" not in f"{member} {member!r}"
    assert attrs.evolve(member, connections=2).count == 2


async def test_figures_for_prometheus() -> None:
    registry_of = pytest.importorskip("prometheus_client")
    registry = registry_of.CollectorRegistry()
    async with BrowserPool(pages=2) as pool:
        register_figures(pool.statistics, registry)
        await pool.run(add, 1)
        async with pool.page():
            text = registry_of.generate_latest(registry).decode()
    for line in (
        "cdpengine_pool_jobs_total 1.0",
        "cdpengine_pool_leases_total 2.0",
        'cdpengine_pool_pages{browser="browser 1.1",stage="ready"} 1.0',
        "cdpengine_pool_waiting 0.0",
    ):
        assert line in text.splitlines()
