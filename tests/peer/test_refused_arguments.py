"""Arguments that no page could accept are refused before anything is sent."""

from __future__ import annotations

import datetime as dt
import inspect
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from scripted_browser import ScriptedBrowser, quiet

import cdpengine
from cdpengine import Option
from cdpengine._emulation.options import EmulationOptions
from cdpengine.errors import InvalidArgumentError

NODE, OTHER = cdpengine.BackendNode(5), cdpengine.BackendNode(6)
AWARE = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

# Values of wrong types are the point of these rows.
ROWS: dict[str, tuple[Callable[[Any, Any], object], tuple[Any, ...]]] = {
    "click": (
        lambda page, options: page.click(NODE, **options),
        (
            {"button": "primary"}, {"count": 0}, {"count": True}, {"modifiers": ("Hyper",)}, {"modifiers": ("Enter",)},
            {"position": (1,)}, {"position": (float("nan"), 0)},
        ),
    ),
    "drag": (
        lambda page, options: page.drag(NODE, OTHER, **options),
        ({"steps": 0}, {"position": (1,)}, {"source_position": ("a", 1)}, {"hold": -1}, {"modifiers": ["Hyper"]}),
    ),
    "fill": (
        lambda page, value: page.fill(NODE, value),
        (None, b"x", float("nan"), "\ud800", AWARE, ["x"]),
    ),
    "fill_form": (
        lambda page, fields: page.fill_form(fields),
        ("e1", [NODE], [(NODE,)], {NODE: None}, [(NODE, "ok"), (NODE, [1])]),
    ),
    "type": (lambda page, given: page.type(NODE, given[0], **given[1]), (
        (7, {}), ("\ud83d", {}), ("a", {"delay": -1}), ("a", {"delay": True}), ("a", {"layout": "dvorak"}), ("a", {"layout": 7}),
    )),
    "press": (lambda page, given: page.press(given[0], NODE, **given[1]), (
        ("Entr", {}), ("a", {"layout": ""}), ("a", {"layout": ["de"]}),
    )),
    "keyboard": (lambda page, layout: page.keyboard.type("a", layout=layout), ("dvorak", "", 7, ["de"])),
    "keyboard.press": (lambda page, layout: page.keyboard.press("a", layout=layout), ("dvorak", 7)),
    "compose": (lambda page, text: page.keyboard.compose("a", text), (7, "\ud83d")),
    "select": (lambda page, option: page.select(NODE, option), (7, None, ["r"])),
    "option": (lambda page, parts: page.select(NODE, Option(**parts)), (
        {}, {"index": -1}, {"index": True}, {"label": 5},
    )),
    "upload": (lambda page, file: page.upload(NODE, file), (7, b"a", Path("no such.txt"))),
    "upload of content": (lambda page, parts: page.upload(NODE, cdpengine.FileContent(*parts)), (
        ("", b""), ("a/b", b""), (1, b""), ("a", "text"), ("a", b"", 1), ("a", bytes(50_000_001)),
    )),
    "evaluate": (lambda page, argument: page.evaluate("x => x", argument), (object(), b"bytes", {1: 2})),
    "find": (lambda page, options: page.find(**options), (
        {}, {"role": "buton"}, {"role": "Dropdown"}, {"role": "StaticText"}, {"text": re.compile(b"x")},
    )),
    "locate": (lambda page, options: page.click(page.locate(**options)), (
        {}, {"role": "buton"}, {"css": "a", "nth": 1.5}, {"css": " "}, {"css": "a", "nth": True},
    )),
    "activity": (lambda page, options: page.activity.start(**options), (
        {"console": -1}, {"errors": 1.5}, {"requests": True}, {"keep_over_navigation": "no"}, {"bodies": "all"},
        {"bodies": True, "requests": 0},
    )),
    "emulation": (lambda page, options: page.emulation.set(**options), (
        {}, {"timezon": "UTC"}, {"device": "iPhone 99"}, {"timezone": "Nowhere/City", "color_scheme": "dark"},
        {"user_agent": "a\nb"}, {"viewport": (0, 0)},
    )),
    "context": (lambda page, options: page.browser.new_context(**options), (
        {"proxy": "nonsense://"}, {"proxy": 5}, {"downloads": 5}, {"permissions": ["cammera"]},
        {"timezone": "Nowhere/City"}, {"colour_scheme": "dark"}, {"storage_state": 5},
    )),
    "target": (lambda page, target: page.click(target), (None, 3, 4.5, object())),
    "timeout": (lambda page, timeout: page.snapshot(timeout=timeout), (-1, float("nan"), "3", None, True)),
    "goto": (lambda page, url: page.goto(url), (
        "", "example.com", "/path", "127.0.0.1:80", "://x", "localhost:8000/one", "my-host.example:80?q",
    )),
    "wait_until": (lambda page, state: page.goto("about:blank", wait_until=state), ("ready",)),
    "wait_for": (lambda page, conditions: page.wait_for(**conditions), (
        {}, {"text": ""}, {"url": 5}, {"load_state": "done"}, {"network_idle": 0}, {"seconds": -1}, {"ref": 5},
        {"expression": " "},
    )),
    "recover": (lambda page, allow: page.recover(allow=allow), ("everything",)),
    "screenshot": (lambda page, options: page.screenshot(**options), (
        {"clip": cdpengine.BoundingBox(0, 0, 10, 10), "full_page": True}, {"clip": cdpengine.BoundingBox(0, 0, 0, 10)},
        {"clip": (0, 0, 10, 10)}, {"refs": True, "scale": 2}, {"max_side": 0}, {"max_side": 1.5}, {"mask_color": "red"},
        {"format": "jpeg", "omit_background": True}, {"path": "picture.gif"}, {"path": "picture.png", "format": "webp"},
    )),
    "route": (
        lambda page, given: page.route(*given[:2], **given[2]),
        (
            ("", print, {}), (3, print, {}), ("*", "handler", {}), ("*", print, {"resource_type": "picture"}),
            ("*", print, {"stage": "end"}), ("*", print, {"limit": 0}),
        ),
    ),
    "credentials": (
        lambda page, given: page.network.http_credentials("a", given[0], **given[1]),
        (("b", {"origin": "example.com"}), (None, {})),
    ),
    "headers": (lambda page, headers: page.network.extra_headers(headers), ({"a b": "c"}, {"a": "c\r\nd: e"})),
    "conditions": (
        lambda page, conditions: page.network.conditions(conditions),
        ("fast snail", cdpengine.network.NetworkConditions(latency=-1)),
    ),
    "rate": (lambda page, rate: page.network.throttle_cpu(rate), (0.5,)),
    "script": (
        lambda page, given: page.scripts.add_init_script(*given[0], **given[1]),
        ((("1",), {"path": "a.js"}), ((), {"path": "/nowhere.js"})),
    ),
    "expose": (lambda page, name: page.scripts.expose(name, print), ("a.b",)),
    "downloads": (lambda page, directory: page.expect_download(directory), (__file__, f"{__file__}/below", "", 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
async def test_a_wrong_argument_is_refused_and_sends_nothing(
    page: cdpengine.Page, scripted: ScriptedBrowser, name: str
) -> None:
    use, wrong = ROWS[name]
    await quiet()
    sent = len(scripted.received)
    for argument in wrong:
        with pytest.raises(InvalidArgumentError) as caught:
            called: Any = use(page, argument)
            if isinstance(called, AbstractAsyncContextManager):
                async with called:
                    raise AssertionError(f"{argument!r} was accepted")
            await called
        assert caught.value.expected
        await quiet()
        # Every action on a page emulates the focus for it.
        assert {each.method for each in scripted.received[sent:]} <= {"Emulation.setFocusEmulationEnabled"}, (
            argument
        )


async def test_an_unknown_option_of_a_context_names_all_options(page: cdpengine.Page) -> None:
    with pytest.raises(InvalidArgumentError, match="new_context: got 'colour_scheme'") as caught:
        async with page.browser.new_context(colour_scheme="dark"):  # type: ignore[call-arg]
            raise AssertionError
    listed = str(caught.value).rpartition("options among ")[2].split(", ")
    signature = inspect.signature(type(page.browser).new_context)
    named = [each.name for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]
    assert listed == [*named, *EmulationOptions.__annotations__]
