"""Pages that replace JavaScript's built-ins change no return value and no call."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

import pytest

import cdpengine

pytestmark = pytest.mark.chrome

VALUES = {
    "[1, 22]": [1, 22],
    "({a: [1], b: {c: null}})": {"a": [1], "b": {"c": None}},
    "[undefined, 'x', [true]]": [None, "x", [True]],
    "new Map([['a', [1]]])": {"a": [1]},
    "new Set([1, 2])": {1, 2},
    "[new Date(0)]": [datetime(1970, 1, 1, tzinfo=UTC)],
    "[-0, 1.5]": [-0.0, 1.5],
}

GETTERS = """for (const of of [Node.prototype, Element.prototype]) for (const name of Object.getOwnPropertyNames(of)) {
  try { Object.defineProperty(of, name, { get: () => 'x' }) } catch {}
}"""

REPLACED = [
    "JSON.stringify = () => '[9, 99]'",
    "const real = JSON.stringify; JSON.stringify = function stringify(x) { return real(x).replace('22', '99') }",
    "JSON.stringify = JSON.parse.bind(JSON)",
    "delete globalThis.JSON",
    "Array.prototype.toJSON = Object.prototype.toJSON = String.prototype.toJSON = function () { return 'x' }",
    "Array.isArray = () => true",
    "Object.getPrototypeOf = () => Object.prototype",
    "Object.keys = () => ['a', 'a']",
    "Object.getOwnPropertyDescriptor = () => ({ get: () => 'x' })",
    "globalThis.Set = function () {}; Map.prototype.set = function () {}",
    "Set.prototype.has = () => true",
    "Map.prototype[Symbol.iterator] = function* () { yield [1, 2] }",
    "Array.prototype[Symbol.iterator] = function* () { yield 9 }",
    "delete Array.prototype[Symbol.iterator]; Array.prototype.push = () => { throw 'push' }",
    "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 5",
    "globalThis.Promise = function () {}; Promise.prototype = { then: 5 }",
    "Promise.prototype.then = function () { return 5 }",
    "Object.prototype.polluted = 1; Array.prototype.more = 2",
    "Object.prototype[Symbol.toStringTag] = 'Foo'; Object.prototype.toString = () => '[object Map]'",
    "Object.defineProperty(Array.prototype, '0', { set() { throw 'set' }, get: () => 77 })",
    GETTERS,
]


async def test_result_equals_the_return_value(new_tab: cdpengine.Page) -> None:
    page = new_tab
    made = "".join(f"globalThis.v{number} = {value};" for number, value in enumerate(VALUES))
    wrong = []
    for spoil in REPLACED:
        html = f"<!doctype html><script>{made}{{ {spoil} }}</script><input id=field>"
        await page.goto("data:text/html," + quote(html))
        got = [await page.evaluate(f"v{number}", timeout=5) for number in range(len(VALUES))]
        got.append(await page.evaluate("async () => [1, {a: 2}]", timeout=5))
        got.append(await page.evaluate("(given, other) => given === 1 && other.a", 1, {"a": 2}, timeout=5))
        got.append(
            await page.evaluate(
                "(field) => field === globalThis.field", target=await page.find(css="#field"), timeout=5
            )
        )
        async with page.evaluate_handle("({a: 1})", timeout=5) as handle:
            got.append(await page.evaluate("(object) => object.a", handle, timeout=5))
        if got != [*VALUES.values(), [1, {"a": 2}], 2, True, 1]:
            wrong.append((spoil, got))
        await page.wait_for(expression="() => document.documentElement !== null", timeout=5)
    assert wrong == []


async def test_exposed_functions_receive_the_page_arguments(new_tab: cdpengine.Page) -> None:
    page = new_tab
    called: list[list[object]] = []

    async def take(*given: object) -> list[object]:
        called.append(list(given))
        return [len(given), {"a": 1}]

    given = """1, -1.5, 'a"b\\\\c\\nd', '\\ud800 half', null, true"""
    held = [1, -1.5, 'a"b\\c\nd', "\ud800 half", None, True]
    wrong = []
    for late in (True, False):
        for spoil in REPLACED:
            called.clear()
            html = f"<!doctype html><script>{{ {spoil} }}</script>"
            if late:
                await page.goto("data:text/html," + quote(html))
            async with page.scripts.expose("take", take):
                if not late:
                    await page.goto("data:text/html," + quote(html))
                answer = await page.evaluate(f"(async () => await take({given}))()", timeout=5)
                other = await page.evaluate("(async () => await take({ a: [1] }))()", timeout=5)
            if [answer, other, called] != [[6, {"a": 1}], [1, {"a": 1}], [held, [{"a": [1]}]]]:
                wrong.append((late, spoil, answer, other, list(called)))
    assert wrong == []
