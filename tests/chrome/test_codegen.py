"""Generated programs: each target reaches the same page state as the recorded actions."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from learned_steps import pause

import cdpengine
from cdpengine import Page
from cdpengine.act import Actor, dispatch, parse_request, run_script
from cdpengine.act.parsing import to_json
from cdpengine.cache import Viewport, learn_steps, make_entry, make_key
from cdpengine.codegen.action_script import write_script
from cdpengine.codegen.from_entry import steps_of_entry
from cdpengine.codegen.from_trace import steps_of_trace
from cdpengine.codegen.person_recorder import PersonRecorder
from cdpengine.codegen.python_code import write_program, write_test
from cdpengine.codegen.recorded import RecordedStep, merge_steps
from cdpengine.codegen.request_list import requests_of
from cdpengine.debug.steps.reading import open_step_trace

SHOP = """<!doctype html><title>shop</title><link rel=icon href="data:,"><h1>Shop</h1>
<form onsubmit="event.preventDefault(); said.textContent = `${n.value}, ${p.value.length}, ${size.value}, ${g.checked}`">
<label>Name <input id=n></label> <label>Password <input type=password id=p></label>
<label><input type=checkbox id=g> Gift</label>
<label>Size <select id=size><option>S<option>L</select></label> <button>Pay</button><button>Pay later</button></form>
<ul><li>One <button onclick="note.textContent += '1'">Delete</button>
<li>Two <button onclick="note.textContent += '2'">Delete</button></ul>
<button type=button ondblclick="note.textContent += 'double'">Twice</button>
<div id=d onclick="note.textContent += 'div'">Plain</div>
<a href="about:blank#popup" target=_blank>Open</a> <button onclick="note.textContent += confirm('Sure?')">Ask</button>
<input type=file id=f aria-label=Picture onchange="note.textContent += f.files[0].name">
<p role=status id=said></p><p id=note></p>"""

VALUES = {"name": "Ada", "password": "correct horse"}


async def journey(page: Page) -> None:
    """Act by locators, refs and nodes."""
    await page.locate(label="Name").fill(VALUES["name"])
    await page.locate("#p").fill(VALUES["password"])
    snapshot = await page.snapshot()
    await page.check(snapshot.find(role="checkbox"))
    await page.locate("#size").select("L")
    await page.click(snapshot.find(role="button", name="Delete", nth=1))
    await page.locate(role="button", name="Twice").click(count=2)
    await page.locate("#d").click()
    await page.click(snapshot.find(role="button", name="Pay"))


async def state_of(page: Page) -> str:
    """Return the page without the numbers of refs."""
    return re.sub(r" \[ref=e\d+\]| \[focused\]", "", (await page.snapshot()).text)


def run_program(text: str, tmp_path: Path, values: dict[str, str]) -> str:
    """Run a program that prints its page at the end."""
    program = tmp_path / "program.py"
    body, _, end = text.partition("\n\n\ntrio.run")
    program.write_text(f"{body}\n        print(await page.snapshot())\n\n\ntrio.run{end}")
    given = {name.upper(): value for name, value in values.items()}
    done = subprocess.run(
        [sys.executable, program],
        env=os.environ | given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return re.sub(r" \[ref=e\d+\]| \[focused\]", "", done.stdout.rstrip("\n"))


async def check_targets(
    page: Page,
    steps: list[RecordedStep],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    values: dict[str, str],
) -> None:
    """Run each target, and compare the page after it with the current one."""
    expected = await state_of(page)
    assert "Ada, 13, L, true" in expected
    assert run_program(write_program(steps), tmp_path, values) == expected

    for name, value in values.items():
        monkeypatch.setenv(name.upper(), value)
    module: dict[str, Any] = {}
    exec(write_test(steps), module)
    await page.goto("about:blank")
    await module["test_recorded"](page)
    assert await state_of(page) == expected

    def given(text: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], text)

    actor, notes = Actor(page.context.browser), list[str]()
    actor.focus(page)
    await page.goto("about:blank")
    done = await run_script(actor, given(write_script(steps, notes)))
    assert done.ok, done
    assert await state_of(page) == expected

    await page.goto("about:blank")
    for request in requests_of(steps, notes):
        fields = to_json(request)
        response = await dispatch(actor, parse_request(eval(given(repr(fields)))))
        assert response.ok, response
    assert await state_of(page) == expected
    assert notes == []


async def test_programs_of_a_step_trace(
    page: Page, serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve(SHOP)
    async with page.trace_steps(tmp_path / "shop.zip"):
        await page.goto(url)
        await journey(page)
    notes: list[str] = []
    steps = merge_steps(steps_of_trace(open_step_trace(tmp_path / "shop.zip"), notes))
    assert notes == []
    values = {"name": VALUES["name"], "p": VALUES["password"]}
    await check_targets(page, steps, tmp_path, monkeypatch, values)


async def test_programs_of_a_cache_entry(
    page: Page, serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve(SHOP)
    await page.goto(url)
    async with learn_steps(page) as learned:
        await journey(page)
    key = make_key("pay", url, Viewport(width=1280, height=720), learned.variables)
    entry = make_entry(key, learned.steps, now=1, sensitive=learned.sensitive)
    notes: list[str] = []
    steps = merge_steps(steps_of_entry(entry, notes))
    assert notes == []
    values = {"password": VALUES["password"]}
    await check_targets(page, steps, tmp_path, monkeypatch, values)


async def test_programs_of_a_person(
    page: Page,
    browser: cdpengine.Browser,
    shared_endpoint: str,
    serve: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = serve(SHOP)
    async with (
        cdpengine.connect(shared_endpoint, viewport=None) as window,
        trio.open_nursery() as nursery,
    ):
        seen = await window.wait_for_page(where=lambda each: each.target_id == page.target_id)
        recorder = PersonRecorder(window, seen)
        await recorder.open(url)
        await nursery.start(recorder.run)
        await type_into(page, seen, "Name", VALUES["name"])
        await type_into(page, seen, "Password", VALUES["password"])
        await press(page, seen, page.locate(role="checkbox", name="Gift"))
        await page.locate("#size").select("L")
        await press(page, seen, page.locate(role="button", name="Delete", nth=1))
        await press(page, seen, page.locate(role="button", name="Twice"), count=2)
        async with page.expect_dialog(accept=True):
            await press(page, seen, page.locate(role="button", name="Ask"))
        await page.locate("#f").upload(__file__)
        await pause(seen)
        await press(page, seen, page.locate(role="button", name="Pay", exact=True))
        async with page.expect_popup() as popup:
            await page.locate(role="link", name="Open").click()
        await wait_for(lambda: len(recorder._pages) == 2 and recorder._pages[1].learned is not None)
        await popup.value.close()
        await pause(seen)
        await type_into(page, seen, "Name", "Ada", key="Enter")
        recorder.stop()
    notes: list[str] = []
    steps = merge_steps(recorder.steps(notes))
    assert notes == []
    calls = [line.strip() for line in write_program(steps).splitlines() if "page" in line]
    assert calls == [
        "page = await browser.new_page()",
        f'await page.goto("{url}")',
        'await page.locate(role="textbox", name="Name", exact=True).fill("Ada")',
        'await page.locate(role="textbox", name="Password", exact=True).fill(os.environ["PASSWORD"])',
        'await page.locate(role="checkbox", name="Gift", exact=True).check()',
        'await page.locate(role="combobox", name="Size", exact=True).select("L")',
        'await page.locate(role="button", name="Delete", exact=True, nth=1).click()',
        'await page.locate(role="button", name="Twice", exact=True).click(count=2)',
        "async with page.expect_dialog(accept=True):",
        'await page.locate(role="button", name="Ask", exact=True).click()',
        'await page.locate(role="button", name="Picture", exact=True).upload("test_codegen.py")',
        'await page.locate(role="button", name="Pay", exact=True).click()',
        "async with page.expect_popup() as popup:",
        'await page.locate(role="link", name="Open", exact=True).click()',
        "page2 = popup.value",
        "await page2.close()",
        'await page.locate(role="textbox", name="Name", exact=True).fill("AdaAda")',
        'await page.locate(role="textbox", name="Name", exact=True).press("Enter")',
    ]
    expected = await state_of(page)
    monkeypatch.chdir(Path(__file__).parent)
    assert run_program(write_program(steps), tmp_path, {"password": VALUES["password"]}) == expected


async def type_into(page: Page, seen: Page, label: str, text: str, *, key: str = "Tab") -> None:
    """Click a field and type, with keys."""
    await press(page, seen, page.locate(role="textbox", name=label))
    await page.keyboard.press("End")
    await page.keyboard.type(text)
    await page.keyboard.press(key)
    await pause(seen)


async def press(page: Page, seen: Page, target: cdpengine.Locator, *, count: int = 1) -> None:
    """Click, after a look at the page."""
    await page.click(target, count=count)
    await pause(seen)


async def wait_for(condition: Callable[[], bool]) -> None:
    """Poll a state without an event."""
    with trio.fail_after(10):
        while not condition():  # noqa: ASYNC110
            await trio.sleep(0.02)


async def test_the_command_records_a_tab(
    browser: cdpengine.Browser, shared_endpoint: str, serve: Callable[..., str]
) -> None:
    url = serve(SHOP)
    command = [
        sys.executable,
        "-m",
        "cdpengine",
        "codegen",
        url,
        "--endpoint",
        shared_endpoint,
        "--target",
        "script",
    ]
    known = {page.target_id for page in browser.pages}
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    with trio.fail_after(60):
        page = await browser.wait_for_page(where=lambda each: each.target_id not in known)
        while b"recording" not in await process.stderr.receive_some():
            pass
        await page.wait_for(text="Shop")
        await page.settled()
        await page.click(page.locate(role="button", name="Delete", nth=1))
        await page.settled()
        process.send_signal(signal.SIGINT)
        output = b""
        while piece := await process.stdout.receive_some():
            output += piece
        assert await process.wait() == 0
    assert output.decode() == f'goto [{url}]\nclick [role=button[name="Delete"][exact] >> nth=1]\n'
    await wait_for(lambda: page.closed)
