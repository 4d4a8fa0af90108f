"""Generated programs: each target reaches the same page state as the recorded actions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdpengine import Page
from cdpengine.act import Actor, dispatch, parse_request, run_script
from cdpengine.act.parsing import to_json
from cdpengine.cache import Viewport, learn_steps, make_entry, make_key
from cdpengine.codegen.action_script import write_script
from cdpengine.codegen.from_entry import steps_of_entry
from cdpengine.codegen.from_trace import steps_of_trace
from cdpengine.codegen.python_code import write_program, write_test
from cdpengine.codegen.request_list import requests_of
from cdpengine.codegen.steps import RecordedStep, merge_steps
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
