"""One Chromium for all of the action floor's tests, one page of its own for each of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator, Iterator

import pytest
from action_stage import Stage, open_stage


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The websocket endpoint of a Chromium that runs as long as the tests do."""
    profile = tmp_path_factory.mktemp("profile")
    command = ["/usr/bin/chromium", "--headless=new", "--no-sandbox", "--no-first-run", "--hide-scrollbars"]
    command += ["--remote-debugging-port=0", f"--user-data-dir={profile}", "--disable-dev-shm-usage"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        try:
            found = None
            while found is None:
                line = process.stderr.readline()
                assert line, "Chromium ended before it listened"
                found = re.search(r"DevTools listening on (ws://\S+)", line)
            yield found[1]
        finally:
            process.terminate()
            process.stderr.read()


@pytest.fixture
async def stage(chromium: str) -> AsyncIterator[Stage]:
    async with open_stage(chromium) as opened:
        yield opened
