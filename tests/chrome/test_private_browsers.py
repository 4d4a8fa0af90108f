"""Services with a Chromium for each connection: a local substitute, and browserless itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from private_browsers import TOKEN, private_browsers, run_browserless
from rounds import slow_but

import cdpengine

pytestmark = pytest.mark.chrome


async def use(browser: cdpengine.Browser) -> None:
    """On two pages, run operations that need evaluation, including a script that hangs."""
    pages = [await browser.new_page() for _ in range(2)]
    for number, page in enumerate(pages):
        await page.set_content(f"<title>{number}</title><button onclick='done = 1'>Go</button>")
        await page.click((await page.snapshot()).find(role="button", name="Go"))
        assert await page.evaluate("[document.title, done]", timeout=10) == [str(number), 1]
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
        await pages[0].evaluate("while (true) {}", timeout=0.5)
    assert await pages[0].evaluate("1 + 1", timeout=10) == 2


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("address", "started"),
    [("http://127.0.0.1:{}", 1), ("ws://127.0.0.1:{}/devtools/browser/any", 2)],
    ids=["no browser is named", "noticed at the first page"],
)
async def test_a_browser_for_each_connection(address: str, started: int) -> None:
    async with private_browsers() as browsers:
        endpoint = f"{address.format(browsers.port)}?token={TOKEN}"
        async with cdpengine.connect(endpoint, timeout=30) as browser:
            await use(browser)
            assert browsers.started == started
            with trio.fail_after(20):
                await browsers.wait_for(running=1)  # the other one is returned
        with pytest.raises(cdpengine.errors.ConnectFailedError, match=r"401 \(Unauthorized\)") as caught:
            async with cdpengine.connect(endpoint.replace(TOKEN, "abracadabra")):
                pytest.fail("connected without a valid token")
        assert "abracadabra" not in str(caught.value)


# --- browserless ------------------------------------------------------------------------------------------


@pytest.fixture
async def browserless(tmp_path: Path) -> AsyncIterator[int]:
    """Run browserless on loopback and yield its port."""
    async with run_browserless(tmp_path) as port:
        yield port


@pytest.mark.peers
@pytest.mark.parametrize(
    "address",
    slow_but(
        ["http://127.0.0.1:{}", "ws://127.0.0.1:{}", "ws://127.0.0.1:{}/chromium"],
        ["ws://127.0.0.1:{}/chromium"],
    ),
)
async def test_browserless(browserless: int, address: str) -> None:
    endpoint = f"{address.format(browserless)}?token={TOKEN}"
    async with cdpengine.connect(endpoint, timeout=60) as browser:
        await use(browser)
    for wrong, told in ((endpoint.replace(TOKEN, "abracadabra"), "401"), (endpoint.partition("?")[0], "401")):
        with pytest.raises(cdpengine.errors.ConnectFailedError, match=rf"{told} \(Unauthorized\)") as caught:
            async with cdpengine.connect(wrong, timeout=60):
                pytest.fail("connected without a valid token")
        assert "abracadabra" not in str(caught.value)
        assert "Is Chrome running there" not in str(caught.value)
