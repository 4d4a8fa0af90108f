"""`expect`: assertions about pages and elements, in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import trio

import cdpengine
from cdpengine import Page, expect
from cdpengine.errors import AssertionFailedError

pytestmark = pytest.mark.chrome

TODOS = """<main><h1>Todos</h1><ul><li>Buy milk</li><li>Pay rent <b>45</b></li></ul>
<button disabled>Save</button></main>"""


async def test_title_and_url_are_awaited(page: Page, serve: Callable[..., str]) -> None:
    url = serve("<title>One</title><p>Hello")
    await page.goto(url)
    await page.evaluate(
        """void setTimeout(() => { document.title = "Two  words"; history.pushState(0, "", "?q=2") }, 200)"""
    )
    await expect(page).to_have_title("Two words")
    await expect(page).to_have_url("*?q=2")
    await expect(page).not_.to_have_title("One")
    with pytest.raises(AssertionFailedError) as raised:
        await expect(page, timeout=1).to_have_title("Three")
    assert isinstance(raised.value, AssertionError)
    assert (
        str(raised.value)
        == """expected the page to have the title 'Three' within 1 s, but it was "Two words\""""
    )
    with pytest.raises(AssertionFailedError, match="not to have the URL"):
        await expect(page).not_.to_have_url("*?q=2", timeout=0)


async def test_snapshot_is_awaited_and_its_difference_shown(page: Page) -> None:
    await page.set_content("<main></main>")
    await page.evaluate(f"void setTimeout(() => document.body.innerHTML = `{TODOS}`, 200)")
    template = """
      - heading "Todos"
      - list:
        - listitem: Buy milk
      - button /save/i [disabled]
    """
    await expect(page).to_match_snapshot(template)
    await expect(page).not_.to_match_snapshot("- link")
    with pytest.raises(AssertionFailedError) as raised:
        await expect(page).to_match_snapshot(template.replace("milk", "bread"), timeout=0)
    message = str(raised.value)
    assert "1 of its 4 lines was not on the page" in message
    assert '-   - listitem: "Buy bread"\n  +   - listitem: "Buy milk"' in message
    assert raised.value.actual.startswith('- main\n  - heading "Todos" [level=1]\n')


async def test_missing_template_is_written_and_matches(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "snapshots" / "todos.txt"
    await page.set_content(TODOS)
    monkeypatch.setenv("CDPENGINE_UPDATE_SNAPSHOTS", "0")
    with pytest.raises(cdpengine.errors.FileUnreadableError, match="does not exist"):
        await expect(page).to_match_snapshot(path)
    monkeypatch.delenv("CDPENGINE_UPDATE_SNAPSHOTS")
    await expect(page).to_match_snapshot(path)
    assert (
        path.read_text()
        == """\
- main
  - heading "Todos" [level=1]
  - list
    - listitem: "Buy milk"
    - listitem: "Pay rent 45"
  - button "Save" [disabled]
"""
    )
    await expect(page).to_match_snapshot(path, timeout=0)
    path.write_text('- heading /todos/i\n- listitem "x"\n')
    with pytest.raises(AssertionFailedError):
        await expect(page).to_match_snapshot(path, timeout=0)
    monkeypatch.setenv("CDPENGINE_UPDATE_SNAPSHOTS", "1")
    await expect(page).to_match_snapshot(path)
    assert path.read_text().startswith("- main\n")
    path.write_text("- heading /todos/i\n")  # it matches, so it stays
    await expect(page).to_match_snapshot(path)
    assert path.read_text() == "- heading /todos/i\n"
    with pytest.raises(AssertionFailedError, match="The new template:"):
        await expect(page).to_match_snapshot("- link")


async def test_a_navigation_during_the_wait_is_normal(page: Page, serve: Callable[..., str]) -> None:
    url = serve("<title>New</title><h1>New</h1>")
    await page.set_content("<title>Old</title>")
    await page.evaluate(f"void setTimeout(() => location = {url!r}, 200)")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(expect(page).to_have_title, "New")
        nursery.start_soon(expect(page).to_match_snapshot, '- heading "New"')
        nursery.start_soon(expect(page).to_have_url, url)


async def test_a_crash_raises_its_own_error(page: Page) -> None:
    await page.set_content("<title>Old</title>")

    async def crash() -> None:
        await trio.sleep(0.2)
        with trio.move_on_after(1), suppress(cdpengine.errors.EngineError):
            await page.goto("chrome://crash")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(crash)
        with pytest.raises(cdpengine.errors.TargetCrashedError):
            await expect(page).to_have_title("New")
