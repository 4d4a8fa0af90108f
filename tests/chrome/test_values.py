"""Values come back unchanged, or as a value that describes the original; never as an approximation."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest

import cdpengine
from cdpengine._evaluate.values import (
    JSDate,
    JSError,
    JSFunction,
    JSMap,
    JSNode,
    JSObject,
    JSRegExp,
    JSSet,
    JSSymbol,
    JSTypedArray,
    JSValue,
    JSWindow,
)

SAME: list[tuple[str, object]] = [
    ("undefined", None),
    ("null", None),
    ("true", True),
    ("0", 0),
    ("1.5", 1.5),
    ("2 ** 53", 2**53),
    ("1e300", 1e300),
    ("Infinity", math.inf),
    ("-Infinity", -math.inf),
    ("2n ** 70n", 2**70),
    ("-5n", -5),
    ("''", ""),
    ("'é漢😀'", "é漢😀"),
    ("'\\ud83d'", "\ud83d"),
    ("'a\\u0000b'", "a\0b"),
    ("[]", []),
    ("({})", {}),
    ("[1, 'two', [null, {three: 3}]]", [1, "two", [None, {"three": 3}]]),
    ("({a: undefined, b: Infinity, c: 10n})", {"a": None, "b": math.inf, "c": 10}),
    ("[, 1]", [None, 1]),
    ("['\\ud83d']", ["\ud83d"]),
    ("JSON.parse('{\"__proto__\": 1}')", {"__proto__": 1}),
    ("Object.assign(Object.create(null), {x: 1})", {"x": 1}),
    ("Object.assign(Object.create({inherited: 1}), {x: 1})", {"x": 1}),
    ("new Proxy({a: 1}, {})", {"a": 1}),
    ("new Map([['k', {a: 2}]])", {"k": {"a": 2}}),
    ("new Set(['a', 1])", {"a", 1}),
    ("new Date(0)", datetime(1970, 1, 1, tzinfo=UTC)),
    ("[new Date(1500)]", [datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)]),
    ("new Date(NaN)", JSDate("Invalid Date")),
    ("/a+/gi", JSRegExp("a+", "gi")),
    ("new ArrayBuffer(3)", b"\0\0\0"),
    ("new Uint8Array([1, 2, 255])", b"\x01\x02\xff"),
    ("new URL('http://x/?y')", "http://x/?y"),
    ("new Number(5)", 5),
    ("new String('s')", "s"),
    ("(function named() {})", None),
    ("Symbol('s')", JSSymbol("s")),
    ("[Symbol.iterator]", [JSSymbol("Symbol.iterator")]),
    ("new (class Foo { constructor() { this.x = 1 } })", JSObject("Foo", {"x": 1})),
    ("Promise.resolve({x: new Set([1])})", {"x": {1}}),
    ("[Promise.resolve(1)]", [JSValue("promise")]),
    ("[new WeakMap()]", [JSValue("weakmap")]),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("source", "value"), SAME, ids=[source for source, _ in SAME])
async def test_value_is_unchanged(page: cdpengine.Page, source: str, value: object) -> None:
    if source == "(function named() {})":
        # A function as the result is called, and its return value counts. A function inside a value is
        # returned by name.
        assert await page.evaluate("[function named() {}]") == [JSFunction("named")]
        return
    got = await page.evaluate(source)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize("source", ["NaN", "[NaN][0]", "({a: NaN}).a"])
async def test_not_a_number(page: cdpengine.Page, source: str) -> None:
    assert math.isnan(await page.evaluate(source))


async def test_negative_zero_stays_negative(page: cdpengine.Page) -> None:
    assert math.copysign(1, await page.evaluate("-0")) == -1
    assert math.copysign(1, (await page.evaluate("[-0]"))[0]) == -1


async def test_one_object_is_one_object_and_cycles_stay(page: cdpengine.Page) -> None:
    cycle = await page.evaluate("const a = {}; a.a = a; a")
    assert cycle["a"] is cycle
    pair = await page.evaluate("const d = new Date(0), o = {d}; [o, o]")
    assert pair[0] is pair[1]


async def test_errors_nodes_and_windows(page: cdpengine.Page) -> None:
    error = await page.evaluate("new TypeError('no')")
    assert error == JSError("TypeError", "no", error.stack)
    assert "TypeError: no" in error.stack
    await page.set_content("<p id=a>text</p>")
    node = await page.evaluate("document.querySelector('p')")
    assert isinstance(node, JSNode)
    assert await page.evaluate("el => el.id", target=cdpengine.BackendNode(node.backend_node_id)) == "a"
    assert isinstance(await page.evaluate("window"), JSWindow)
    assert isinstance((await page.evaluate("document.querySelectorAll('p')"))[0], JSNode)


async def test_map_with_unhashable_keys_keeps_its_pairs(page: cdpengine.Page) -> None:
    assert isinstance(await page.evaluate("new Map([[{}, 1]])"), JSMap)
    assert isinstance(await page.evaluate("new Set([{}])"), JSSet)
    assert isinstance(await page.evaluate("new Set([1, true])"), JSSet), "1 and True are one key in Python"
    assert isinstance(await page.evaluate("new Float64Array([1.5])"), JSTypedArray)


async def test_a_page_cannot_lie_about_types(page: cdpengine.Page) -> None:
    await page.evaluate(
        "Object.prototype.toString = () => '[object Nothing]'; JSON.stringify = () => '1';"
        "Map.prototype.forEach = Map.prototype.entries = null; Date.prototype.toJSON = () => 5; 1"
    )
    assert await page.evaluate("new Map([['a', 1]])") == {"a": 1}
    assert await page.evaluate("new Date(0)") == datetime(1970, 1, 1, tzinfo=UTC)


async def test_throwing_getter_fails_the_script(page: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.EvaluationFailedError):
        await page.evaluate("({ get a() { throw new Error('no') } })")
    assert await page.evaluate("1") == 1


async def test_too_deep_value_is_refused_with_advice(page: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.EvaluationFailedError, match="nested more than"):
        await page.evaluate("let a = new Set(); for (let i = 0; i < 2000; i++) a = new Set([a]); a")


@pytest.mark.parametrize("size", [10, 100_000])
async def test_long_plain_data(page: cdpengine.Page, size: int) -> None:
    value: Any = await page.evaluate("n => Array.from({length: n}, (_, i) => ({i, t: 'x'}))", size)
    assert len(value) == size
    assert value[-1] == {"i": size - 1, "t": "x"}


async def test_handles_stay_in_the_page(page: cdpengine.Page) -> None:
    async with page.evaluate_handle("window.kept = new Map([[1, 2]]); kept") as handle:
        assert handle.description == "Map(1)"
        assert await page.evaluate("(map, key) => map.get(key)", handle, 1) == 2
        assert await page.evaluate("map => map === window.kept", handle)
    with pytest.raises(cdpengine.errors.StaleRefError, match="it was released"):
        await page.evaluate("map => map.size", handle)
    async with page.evaluate_handle("5") as five:
        assert await five.json_value() == 5


async def test_several_elements_among_the_arguments(page: cdpengine.Page) -> None:
    await page.set_content("<button id=a>A</button><button id=b>B</button>")
    snapshot = await page.snapshot()
    a, b = snapshot.find(role="button", name="A"), snapshot.find(role="button", name="B")
    assert await page.evaluate("(x, n, y) => x.id + n + y.id", a, 1, b) == "a1b"
    assert await page.evaluate("(x, y) => [x.id, y.id]", b, target=a) == ["a", "b"]
    await page.evaluate("document.querySelector('#b').remove()")
    with pytest.raises(cdpengine.errors.StaleRefError, match='e[0-9]+ button "B"'):
        await page.evaluate("(x, y) => y.id", a, b)


async def test_frames(page: cdpengine.Page) -> None:
    await page.set_content(
        "<script>var who = 'outer'</script><iframe srcdoc=\"<script>var who = 'inner'</script>\"></iframe>"
    )
    _main, inner = page.frames
    assert await page.evaluate("who") == "outer"
    assert await page.evaluate("who", frame=inner) == "inner"
    assert await page.evaluate("typeof who", frame=inner, world="isolated") == "undefined"
    await page.evaluate("document.querySelector('iframe').remove()")
    with pytest.raises(cdpengine.errors.EngineError):
        await page.evaluate("who", frame=inner, timeout=2)


async def test_evaluation_can_be_switched_off() -> None:
    async with cdpengine.launch(evaluate_enabled=False) as browser:
        page = await browser.new_page()
        await page.set_content("<title>t</title><button>Go</button>")
        assert await page.title() == "t", "the engine's own scripts still run"
        await page.click((await page.snapshot()).find(role="button"))
        sent = browser.statistics().main.sent
        with pytest.raises(cdpengine.errors.EvaluationDisabledError):
            await page.evaluate("1")
        with pytest.raises(cdpengine.errors.EvaluationDisabledError):
            async with page.evaluate_handle("window"):
                pass
        assert browser.statistics().main.sent == sent


async def test_counters(page: cdpengine.Page, browser: cdpengine.Browser) -> None:
    await page.evaluate("1")
    with pytest.raises(cdpengine.errors.EvaluationFailedError):
        await page.evaluate("throw 1")
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
        await page.evaluate("while (true) {}", timeout=0.2)
    counts = page.measure.evaluate_statistics()
    assert (counts.evaluates, counts.answered, counts.threw, counts.timeouts) == (3, 2, 1, 1)
    assert counts.terminations == 1
    assert counts.cancellations == 0
    assert counts.p50 is not None
    assert counts.longest is not None
    assert 0 < counts.p50 <= counts.longest
    assert browser.statistics().evaluation.evaluates == 3
