"""Scripts and functions in the documents of real pages: present before the page's scripts, and gone
afterwards.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio
from network_site import Site
from pytest_httpserver import HTTPServer

import cdpengine


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


FRAME = """(url) => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = resolve;
    if (url) frame.src = url;
    document.body.append(frame);
})"""

EPOCH = datetime.fromtimestamp(0, UTC)

LEFT = "Object.getOwnPropertyNames(self).filter((name) => /cdpengine|early|tell/.test(name))"


async def test_init_script_runs_first_in_all_documents_until_removed(
    browser: cdpengine.Browser, page: cdpengine.Page, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "second.js").write_text("self.order.push('file é')\n// the end")
    await page.goto(site.url)
    async with (
        page.scripts.add_init_script("self.early = true; self.order = ['first']"),
        page.scripts.add_init_script(path=tmp_path / "second.js"),
        page.scripts.add_init_script("self.hidden = 1", world="isolated"),
    ):
        assert await page.evaluate("self.early ?? null") is None, "not in the current document"
        await page.reload()
        assert await page.evaluate("[own, order, typeof hidden]") == [
            "boolean",
            ["first", "file é"],
            "undefined",
        ]
        assert await page.evaluate("hidden", world="isolated") == 1
        await page.evaluate(FRAME, f"{site.url}same")
        await page.evaluate(FRAME, f"{site.elsewhere}other")
        for frame in page.frames:
            assert await page.evaluate("own", frame=frame) == "boolean", frame.url
        for script in (
            "void open('/page')",
            "void open('/page', '_blank', 'noopener')",
            f"void open('{site.elsewhere}page')",
        ):
            async with browser.expect_page(opener=page) as opened:
                await page.evaluate(script)
            await opened.value.wait_for(load_state="load", url="*page")
            assert await opened.value.evaluate("own") == "boolean", script
            if "elsewhere" not in script:
                await opened.value.close()
        assert await page.evaluate("(self.blank = open('')).order.length") == 2, (
            "a blank popup has it immediately"
        )
        await page.evaluate("blank.close()")
        await page.session.call("Page.reload")
    await page.reload()
    assert await page.evaluate(LEFT) == []
    assert await page.evaluate("own") == "undefined"
    for popup in [each for each in browser.pages if each.opener is page]:
        await popup.close()


async def add(left: int, right: int) -> int:
    return left + right


CALLS: dict[str, tuple[str, object]] = {
    "numbers": ("tell(1, 2.5, -0, 2 ** 60)", [1, 2.5, -0.0, float(2**60)]),
    "odd numbers": ("tell(Infinity, 2n ** 70n)", [math.inf, 2**70]),
    "texts": ("tell('é', '[', '\\ud800')", ["é", "[", "\ud800"]),
    "nothing": ("tell(null, undefined)", [None, None]),
    "none at all": ("tell()", []),
    "data": ("tell({a: [1, {b: true}]})", [{"a": [1, {"b": True}]}]),
    "a map": ("tell(new Map([[1, 'a']]))", [{1: "a"}]),
    "a date": ("tell(new Date(0))", [EPOCH]),
}


async def test_values_go_both_ways(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    seen: list[list[object]] = []

    async def tell(*args: object) -> object:
        seen.append(list(args))
        return {"got": [None, True, 1.5, "é", [2**60], math.inf, {"__proto__": 1}]}

    async with page.scripts.expose("tell", tell) as exposed:
        for name, (call, expected) in CALLS.items():
            back = await page.evaluate(
                f"{call}.then((value) => JSON.stringify(value, (_key, item) => typeof item === 'bigint' || item === Infinity ? String(item) : item))"
            )
            assert back == '{"got":[null,true,1.5,"é",["1152921504606846976"],"Infinity",{"__proto__":1}]}', (
                name
            )
            (args,) = seen
            assert [
                type(arg).__name__ if type(arg).__name__.startswith("JS") else arg for arg in args
            ] == expected, name
            seen.clear()
        assert exposed.calls == len(CALLS)
        assert list(exposed.failures) == []


async def fails() -> None:
    raise LookupError("no such thing")


async def hangs() -> None:
    await trio.sleep_forever()


async def gives_what_has_no_form() -> object:
    return object()


REJECTIONS: dict[str, tuple[Callable[..., Awaitable[object]], str, list[str]]] = {
    "raises": (fails, "tell()", ["LookupError", "no such thing"]),
    "hangs": (hangs, "tell()", ["TimeoutError", "tell gave no answer within 0.3 s"]),
    "wrong arguments": (
        add,
        "tell(1)",
        ["TypeError", "add() missing 1 required positional argument: 'right'"],
    ),
    "wrong value": (
        gives_what_has_no_form,
        "tell()",
        [
            "InvalidArgumentError",
            "argument: got an object, expected None, bool, int, float, str, list or dict",
        ],
    ),
    "a getter that throws": (
        add,
        "tell({get a() { throw new Error('mine') }}, 1)",
        ["EvaluationFailedError", "JavaScript threw: Error: mine"],
    ),
}


async def test_errors_are_rejections_and_on_record(
    page: cdpengine.Page, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    await page.goto(site.url)
    caplog.set_level(logging.CRITICAL, "cdpengine.inject")
    for name, (function, call, expected) in REJECTIONS.items():
        async with page.scripts.expose("tell", function, limit=0.3 if name == "hangs" else 30) as exposed:
            rejections = await page.evaluate(
                f"{call}.catch((error) => [error.name, error.message.split('\\n')[0], error instanceof Error])"
            )
            assert rejections[0] == expected[0], name
            assert rejections[1].startswith(expected[1]), name
            assert rejections[2] is True
            assert [failure.name for failure in exposed.failures] == ["tell"]
    assert len(page.scripts.bindings.failures) == len(REJECTIONS)
    assert page.scripts.bindings.failures[0].reason == "LookupError: no such thing"


async def test_hung_exposed_function_blocks_no_call(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    async with page.scripts.expose("hang", hangs), page.scripts.expose("add", add):
        await page.evaluate(
            "for (let n = 0; n < 999; n++) hang().catch((error) => { self.end = error.message }); void 0"
        )
        assert await page.evaluate("add(1, 2)") == 3
        rejection = await page.evaluate("Promise.all([hang(), hang()]).catch((error) => error.message)")
        assert rejection == "hang: 1000 calls wait for their answer already"
    await page.wait_for(expression="self.end == 'hang is no longer exposed'")


@pytest.mark.slow
async def test_exposed_function_is_in_every_document_until_removed(
    browser: cdpengine.Browser, page: cdpengine.Page, site: Site
) -> None:
    await page.goto(site.url)
    await page.evaluate(FRAME, f"{site.elsewhere}early")
    await page.evaluate(FRAME, "")
    called: list[object] = []

    async def tell(where: object) -> object:
        called.append(where)
        return where

    async with page.scripts.expose("tell", tell):
        await page.evaluate(FRAME, f"{site.elsewhere}late")
        await page.evaluate(FRAME, f"{site.url}same")
        async with browser.expect_page(opener=page) as opened:
            await page.evaluate("void open('/page')")
        popup = opened.value
        await popup.wait_for(load_state="load", url="*page")
        for number, (of, frame) in enumerate(
            [*((page, frame) for frame in page.frames), (popup, popup.frames[0])]
        ):
            assert await of.evaluate(f"tell({number})", frame=frame) == number
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="not exposed already"):
            async with page.scripts.expose("tell", tell):
                raise AssertionError
        assert await page.evaluate("tell(99)") == 99, "the refused call did not remove it"
        await page.reload()
        assert await page.evaluate("tell(100)") == 100
        await page.evaluate(FRAME, f"{site.elsewhere}again")
    assert called == [*range(6), 99, 100]
    for each in (page, popup):
        for frame in each.frames:
            assert await each.evaluate(LEFT, frame=frame) == []
        await each.reload()
        assert await each.evaluate(LEFT) == []
        assert each.session.domains.users.keys() <= {"Page"}
    await popup.close()


async def test_replaced_global_is_restored(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    await page.evaluate("self.mine = 1; void 0")

    async def instead(*_args: object) -> str:
        return "instead"

    async with page.scripts.expose("mine", instead), page.scripts.expose("fetch", instead):
        assert await page.evaluate("Promise.all([mine(), fetch('/')])") == ["instead", "instead"]
    assert await page.evaluate("mine") == 1
    assert await page.evaluate("fetch('/echo/a').then((reply) => reply.status)") == 200


async def test_a_context_exposes_to_all_its_pages(browser: cdpengine.Browser, site: Site) -> None:
    async with browser.new_context() as context:
        before = await context.new_page(site.url)
        async with context.scripts.expose("add", add):
            after = await context.new_page(site.url)
            assert [await each.evaluate("add(2, 3)") for each in (before, after)] == [5, 5]
            await after.close()
        assert await before.evaluate("typeof add") == "undefined"


async def test_switched_off_with_evaluation(shared_endpoint: str) -> None:
    async with cdpengine.connect(shared_endpoint, evaluate_enabled=False) as browser:
        page = await browser.new_page()
        try:
            for make in (lambda: page.scripts.add_init_script("1"), lambda: page.scripts.expose("add", add)):
                with pytest.raises(cdpengine.errors.EvaluationDisabledError):
                    async with make():
                        raise AssertionError
        finally:
            await page.close()


async def test_the_blank_document_of_a_new_page_has_init_scripts(
    browser: cdpengine.Browser, site: Site
) -> None:
    async with browser.new_context() as context:
        await context.scripts.add_init_script("self.runs = (self.runs ?? 0) + 1")
        page = await context.new_page()
        assert await page.evaluate("runs") == 1
        await page.goto(site.url)
        assert await page.evaluate("runs") == 1
        await page.evaluate("void open('')")
        popup = await browser.wait_for_page(opener=page)
        assert await popup.evaluate("runs") == 1
