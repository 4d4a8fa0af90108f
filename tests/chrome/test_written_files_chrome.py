"""Files with page content are readable only by their owner, whatever the umask, and no file is overwritten by
mistake.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import debug

pytestmark = [
    pytest.mark.chrome,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes"),
]

Write = Callable[[cdpengine.Page, Path, bool], Awaitable[object]]


async def trace(page: cdpengine.Page, path: Path, overwrite: bool) -> None:
    async with page.measure.trace(path, categories=["v8"], overwrite=overwrite):
        pass


async def profile(page: cdpengine.Page, path: Path, overwrite: bool) -> None:
    async with page.measure.profile(path, overwrite=overwrite):
        pass


async def record(page: cdpengine.Page, path: Path, overwrite: bool) -> None:
    async with debug.record(page.browser, path, overwrite=overwrite):
        await page.evaluate("1")


WRITING: dict[str, Write] = {
    "a.png": lambda page, path, overwrite: page.screenshot(path, overwrite=overwrite),
    "a.pdf": lambda page, path, overwrite: page.pictures.save_pdf(path, overwrite=overwrite),
    "a.heapsnapshot.gz": lambda page, path, overwrite: page.measure.heap_snapshot(path, overwrite=overwrite),
    "a.har": lambda page, path, overwrite: page.activity.save_har(path, overwrite=overwrite),
    "a.json": trace,
    "a.cpuprofile": profile,
    "a.jsonl": record,
    "a.jsonl.zst": record,
}


UMASK = 0o002
"""A umask under which default file modes differ from owner-only ones."""


@pytest.fixture
def umask() -> Iterator[int]:
    before = os.umask(UMASK)
    yield UMASK
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


async def test_each_file_is_readable_only_by_its_owner(
    tmp_path: Path, httpserver: HTTPServer, umask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    attachment = {"Content-Disposition": "attachment; filename=down.txt"}
    httpserver.expect_request("/").respond_with_data("<a href=/file>x</a>", content_type="text/html")
    httpserver.expect_request("/file").respond_with_data("content", headers=attachment)
    written, temporary = tmp_path / "written", tmp_path / "temporary"
    written.mkdir()
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("CDPENGINE_RECORD", str(written / "asked.jsonl"))
    async with cdpengine.launch() as browser:
        (profile_folder,) = temporary.glob("cdpengine-profile-*")
        assert mode(profile_folder) == 0o700
        page = await browser.new_page(httpserver.url_for("/"))
        await page.activity.start()
        for name, write in WRITING.items():
            await write(page, written / name, True)
        await page.context.storage.state(written / "state.json")
        assert {path.name: oct(mode(path)) for path in written.iterdir()} == dict.fromkeys(
            (*WRITING, "state.json", "asked.jsonl"), "0o600"
        )
        # A download has the mode that its partial file had from the start.
        made = tmp_path / "made" / "for it"
        async with page.expect_download(made) as expected:
            await page.click(await page.find(css="a"))
        path = await expected.value.wait()
        assert (mode(made), mode(path)) == (0o700, 0o600)
    assert not list(temporary.iterdir())


async def test_existing_file_is_refused_before_any_work(page: cdpengine.Page, tmp_path: Path) -> None:
    await page.activity.start()
    for name, write in WRITING.items():
        path = tmp_path / name
        path.write_text("old")
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="which exists already") as refused:
            await write(page, path, False)
        assert str(path) in str(refused.value)
        assert path.read_text() == "old"
        await write(page, path, True)
        assert path.read_bytes() != b"old"
    assert {path.name for path in tmp_path.iterdir()} == set(WRITING)
