"""Many clients in parallel, some of which disconnect: no wrong response, no response to another client, no
leftovers.
"""

from __future__ import annotations

import pytest
from service_load import Figures, at_rest, load, load_program, open_pages

from cdpengine.service.serving import serve
from cdpengine.service.settings import ServiceSettings

pytestmark = pytest.mark.chrome

TOKEN = "the-token-of-the-tests"


def check_errors(figures: Figures) -> None:
    """Check that no request failed, except scripts in a page where another client's endless script was ended.

    Chrome ends all running scripts of the page's process. An affected client gets a named error.
    """
    hit = figures.errors.pop("evaluate: evaluationTerminated", 0)
    assert not figures.errors
    assert hit <= figures.left


async def test_each_client_gets_its_own_response() -> None:
    # Fewer slots than clients: some wait in the queue, and leave it.
    async with serve(ServiceSettings(token=TOKEN, requests=6)) as listening:
        port = int(listening.url.rpartition(":")[2])
        await open_pages(port, TOKEN, 2)
        before = await at_rest(port, TOKEN)
        figures = await load(port, TOKEN, clients=16, pages=2, seconds=0.7)
        after = await at_rest(port, TOKEN, before["tasks"] + 8)
    assert not figures.wrong
    check_errors(figures)
    assert figures.left
    assert len(figures.seconds) > 16
    same = ("sessions", "pages", "targets", "clients")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert after["open_fds"] <= before["open_fds"] + 2


@pytest.mark.slow
async def test_two_hundred_clients_on_twenty_pages_for_a_minute() -> None:
    figures, before, after, status = await load_program(200, 20, 60)
    assert not figures.wrong
    check_errors(figures)
    assert figures.left > 500
    assert status == 0
    same = ("sessions", "pages", "targets", "clients")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert after["open_fds"] <= before["open_fds"] + 2
    assert after["resident_memory_bytes"] <= before["resident_memory_bytes"] + 20, (before, after)
