"""Storage states with IndexedDB and session storage: every kind of value survives the file, or is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import FileUnreadableError, InvalidArgumentError, StorageUnavailableError

VALUES = """{
    undefined: () => undefined,
    null: () => null,
    booleans: () => [true, false, {a: null}],
    numbers: () => [0, -0, 1.5, NaN, Infinity, -Infinity, 1e20, 1e300, 5e-324],
    bigints: () => [0n, -12345678901234567890n],
    strings: () => ["", "\\u0000", "line\\nbreak", "\\u{1F600}", "\\ud800 alone", "</script>"],
    boxes: () => [new Boolean(false), new Number(-0), new String("text"), Object(7n)],
    dates: () => [new Date(0), new Date(1.7e12), new Date(NaN)],
    expressions: () => [/a\\/b/gi, new RegExp("")],
    array: () => [1, [2, [3]], []],
    sparse: () => { const made = [1, , 3]; made.length = 5; made.named = "x"; return made; },
    object: () => ({a: {b: {}}, "": 1, "with space": [1]}),
    proto: () => JSON.parse('{"__proto__": {"own": 1}}'),
    cycle: () => { const made = {list: []}; made.self = made; made.list.push(made.list, made); return made; },
    shared: () => { const part = {n: 1}; return [part, part, {part}]; },
    shared_date: () => { const part = new Date(5); return [part, part]; },
    map: () => { const made = new Map([[1, "one"], [{k: 1}, new Map()]]); made.set(made, made); return made; },
    set: () => new Set([1, "1", NaN, new Set([2])]),
    buffer: () => new Uint8Array([0, 1, 254, 255]).buffer,
    resizable: () => new ArrayBuffer(4, {maxByteLength: 16}),
    typed: () => [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
        Float32Array, Float64Array].map((kind) => new kind([1, 2, 255])).concat([new BigInt64Array([-1n]),
        new BigUint64Array([1n])]),
    views: () => { const buffer = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer;
        return [new Uint16Array(buffer, 2, 2), new DataView(buffer, 1, 3), buffer]; },
    empty_typed: () => new Float64Array(0),
    large: () => new Uint8Array(200000).fill(7),
    errors: () => [new TypeError("wrong", {cause: {a: 1}}), new RangeError(""), new Error("plain")],
    exception: () => new DOMException("gone", "NotFoundError"),
    blob: () => new Blob(["text", new Uint8Array([0, 255])], {type: "text/plain"}),
    file: () => new File(["content"], "name \\u00e9.txt", {type: "a/b", lastModified: 1234}),
    list: () => { const files = new DataTransfer(); files.items.add(new File(["x"], "x.txt")); return files.files; },
    image: () => new ImageData(new Uint8ClampedArray([1, 2, 3, 4, 5, 6, 7, 8]), 2, 1),
    geometry: () => [new DOMRect(1, 2, 3, NaN), new DOMPoint(1, 2, 3, 4), new DOMMatrix([1, 2, 3, 4, 5, 6]),
        DOMQuad.fromRect({x: 1, y: 2, width: 3, height: 4}), new DOMRectReadOnly(1, 2, 3, 4)],
}"""

DESCRIBE = """async (made) => {
    const seen = new Map();
    async function describe(value) {
        if (value === null || typeof value !== "object") {
            return Object.is(value, -0) ? "-0" : typeof value + ":" + (typeof value === "string"
                ? JSON.stringify(value) : String(value));
        }
        if (seen.has(value)) return "ref " + seen.get(value);
        seen.set(value, seen.size);
        const kind = Object.prototype.toString.call(value).slice(8, -1);
        const parts = [kind, Object.getPrototypeOf(value) === globalThis[kind]?.prototype || kind.endsWith("Error")];
        if (["Boolean", "Number", "String", "BigInt"].includes(kind)) parts.push(await describe(value.valueOf()));
        if (kind === "Date") parts.push(String(value.getTime()));
        if (kind === "RegExp") parts.push(String(value));
        if (kind === "Error") parts.push(value.name, value.message, value.stack, await describe(value.cause));
        if (kind === "DOMException") parts.push(value.name, value.message, value.code);
        if (kind === "Map") for (const [key, each] of value) parts.push(await describe(key), await describe(each));
        if (kind === "Set") for (const each of value) parts.push(await describe(each));
        if (kind === "ArrayBuffer") parts.push(value.resizable, value.maxByteLength, Array.from(new Uint8Array(value)).join());
        if (ArrayBuffer.isView(value)) {
            parts.push(value.byteOffset, value.byteLength, await describe(value.buffer));
        }
        if (kind === "Blob" || kind === "File") {
            parts.push(value.type, value.name, value.lastModified);
            parts.push(Array.from(new Uint8Array(await value.arrayBuffer())).join());
        }
        if (kind === "FileList") for (const each of value) parts.push(each.name, await each.text());
        if (kind === "ImageData") parts.push(value.width, value.height, value.colorSpace, Array.from(value.data).join());
        if (kind.startsWith("DOM") && value.toJSON) {
            const plain = value.toJSON();
            for (const name of Object.keys(plain)) parts.push(name, await describe(plain[name]));
        }
        if (kind === "Array") parts.push(value.length);
        if (kind === "Array" || kind === "Object") {
            for (const name of Object.keys(value)) parts.push(name, await describe(value[name]));
        }
        return parts;
    }
    return JSON.stringify(await describe(made));
}"""

OPEN = """(name, version, upgrade = () => {}) => new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = () => upgrade(request.result);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
})"""

FINISHED = """(transaction) => new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
})"""

WRITE = f"""async () => {{
    const values = {VALUES};
    const database = await ({OPEN})("kinds", 7, (made) => made.createObjectStore("values"));
    const transaction = database.transaction("values", "readwrite");
    for (const [name, make] of Object.entries(values)) transaction.objectStore("values").put(make(), name);
    await ({FINISHED})(transaction);
    database.close();
    return Object.keys(values);
}}"""

READ = f"""async (names) => {{
    const database = await ({OPEN})("kinds");
    const found = {{version: database.version}};
    for (const name of names) {{
        const request = database.transaction("values").objectStore("values").get(name);
        const value = await new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
        found[name] = await ({DESCRIBE})(value);
    }}
    database.close();
    return found;
}}"""

STRUCTURE = f"""async () => {{
    const database = await ({OPEN})("shop", 3, (made) => {{
        const items = made.createObjectStore("items", {{keyPath: "id"}});
        items.createIndex("by name", "name", {{unique: true}});
        items.createIndex("by tags", "tags", {{multiEntry: true}});
        items.createIndex("by both", ["name", "id"]);
        made.createObjectStore("log", {{autoIncrement: true}});
        made.createObjectStore("pairs", {{keyPath: ["a", "b"]}});
        made.createObjectStore("keys");
        made.createObjectStore("empty");
    }});
    const transaction = database.transaction(["items", "log", "pairs", "keys"], "readwrite");
    transaction.objectStore("items").put({{id: 1, name: "pen", tags: ["a", "b"]}});
    transaction.objectStore("items").put({{id: 2, name: "ink", tags: ["b"], at: new Date(7)}});
    transaction.objectStore("log").put("first");
    transaction.objectStore("log").put("second");
    transaction.objectStore("pairs").put({{a: 1, b: 2}});
    const keys = transaction.objectStore("keys");
    for (const key of [-Infinity, 0, 1.5, new Date(5), "text", new Uint8Array([1, 2]).buffer, [1, ["x", new Date(6)]]]) {{
        keys.put("value", key);
    }}
    await ({FINISHED})(transaction);
    database.close();
}}"""

READ_STRUCTURE = f"""async () => {{
    const database = await ({OPEN})("shop");
    const names = Array.from(database.objectStoreNames);
    const transaction = database.transaction(names);
    const all = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    const found = [database.version];
    for (const name of names) {{
        const store = transaction.objectStore(name);
        const indexes = Array.from(store.indexNames, (each) => {{
            const {{keyPath, unique, multiEntry}} = store.index(each);
            return [each, keyPath, unique, multiEntry];
        }});
        const [keys, values] = await Promise.all([all(store.getAllKeys()), all(store.getAll())]);
        const shown = keys.map((key) => indexedDB.cmp(key, key) === 0 && (key instanceof ArrayBuffer
            ? "buffer " + new Uint8Array(key).join() : key instanceof Date ? "date " + key.getTime() : key));
        found.push([name, store.keyPath, store.autoIncrement, indexes, shown, values]);
    }}
    const tagged = await all(database.transaction("items").objectStore("items").index("by tags").count("b"));
    database.close();
    return JSON.stringify([found, tagged]);
}}"""


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    page = "<title>t</title><script>globalThis.early = {...sessionStorage}</script>"
    for path in ("/", "/next"):
        httpserver.expect_request(path).respond_with_data(page, content_type="text/html")
    return httpserver.url_for("/")


async def test_all_kinds_of_values_survive_a_file(
    browser: cdpengine.Browser, site: str, tmp_path: Path
) -> None:
    file = tmp_path / "state.json"
    async with browser.new_context() as context:
        page = await context.new_page(site)
        names = await page.evaluate(WRITE)
        before = await page.evaluate(READ, names)
        state = await context.storage.state(file, indexed_db=True)
        assert (await context.storage.state()).origins == (), "databases are included on request only"
    assert cdpengine.StorageState.from_json(state.to_json()) == state
    async with browser.new_context(storage_state=file) as context:
        page = await context.new_page(site)
        after = await page.evaluate(READ, names)
        assert before == after
        assert before["version"] == 7
        again = await context.storage.state(indexed_db=True)
        assert again == state


async def test_stores_keys_and_indexes_survive(browser: cdpengine.Browser, site: str, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate(STRUCTURE)
        before = await page.evaluate(READ_STRUCTURE)
        await context.storage.state(file, indexed_db=True)
    (origin,) = json.loads(file.read_text())["origins"]
    (database,) = origin["indexedDB"]
    stores = {store["name"]: store for store in database["stores"]}
    assert stores["items"]["records"][0] == {"value": {"id": 1, "name": "pen", "tags": ["a", "b"]}}
    assert stores["log"]["records"] == [{"key": 1, "value": "first"}, {"key": 2, "value": "second"}]
    assert stores["pairs"]["keyPathArray"] == ["a", "b"]
    async with browser.new_context(storage_state=file) as context:
        page = await context.new_page(site)
        assert await page.evaluate(READ_STRUCTURE) == before
        add = f"""async () => {{
            const database = await ({OPEN})("shop");
            const request = database.transaction("log", "readwrite").objectStore("log").add("third");
            const key = await new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
            database.close();
            return key;
        }}"""
        assert await page.evaluate(add) == 3, "automatic keys continue"


async def test_a_value_without_a_form_in_json_is_refused(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate(f"""async () => {{
            const key = await crypto.subtle.generateKey({{name: "AES-GCM", length: 128}}, false, ["encrypt"]);
            const database = await ({OPEN})("keys", 1, (made) => made.createObjectStore("own"));
            const transaction = database.transaction("own", "readwrite");
            transaction.objectStore("own").put({{key}}, "k");
            await ({FINISHED})(transaction);
            database.close();
        }}""")
        with pytest.raises(StorageUnavailableError, match=r'store "own" of database "keys": a CryptoKey'):
            await context.storage.state(indexed_db=True)
        assert (await context.storage.state()).cookies == ()


async def test_a_present_database_is_not_replaced_and_nothing_is_set(
    browser: cdpengine.Browser, site: str
) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate(STRUCTURE)
        await page.evaluate("localStorage.setItem('a', 'old')")
        state = await context.storage.state(indexed_db=True)
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate(f"async () => (await ({OPEN})('shop', 1)).close()")
        await page.evaluate("onstorage = ({key}) => (globalThis.written ??= []).push(key)")
        with pytest.raises(StorageUnavailableError, match='"shop" exists already'):
            await context.storage.restore_state(state)
        assert await page.evaluate("localStorage.getItem('a')") is None
        assert await page.evaluate("globalThis.written") is None, "nothing was written and then undone"
        assert [each.version for each in await context.storage.databases(site)] == [1]
        await context.storage.clear(site, "indexeddb")
        await context.storage.restore_state(state)
        assert await page.evaluate("localStorage.getItem('a')") == "old"
        assert [each.version for each in await context.storage.databases(site)] == [3]


async def test_a_failed_restoration_removes_its_databases(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate(STRUCTURE)
        text = (await context.storage.state(indexed_db=True)).to_json()
    broken = json.loads(text)
    extra: dict[str, Any] = {
        "name": "bad",
        "version": 1,
        "stores": [{"name": "s", "records": [{"value": 1}]}],
    }
    broken["origins"][0]["indexedDB"].append(extra)
    state = cdpengine.StorageState.from_json(json.dumps(broken))
    async with browser.new_context() as context:
        with pytest.raises(StorageUnavailableError, match="IndexedDB"):
            await context.storage.restore_state(state)
        assert await context.storage.databases(site) == []


@pytest.mark.parametrize(
    ("databases", "place"),
    [
        ({}, r"origins\[0\]"),
        ([1], r"indexedDB\[0\]"),
        ([{"name": 1}], "name"),
        ([{"name": "a", "version": 0, "stores": []}], "version"),
        ([{"name": "a", "version": 1}], "stores"),
        ([{"name": "a", "version": 1, "stores": [{"name": "s", "records": [1]}]}], "records"),
    ],
)
async def test_malformed_databases_of_a_file_are_refused(
    browser: cdpengine.Browser, tmp_path: Path, databases: Any, place: str
) -> None:
    file = tmp_path / "state.json"
    origin = {"origin": "https://a.example", "localStorage": [], "indexedDB": databases}
    file.write_text(json.dumps({"cookies": [], "origins": [origin]}))
    with pytest.raises(FileUnreadableError, match=place):
        async with browser.new_context(storage_state=file):
            pass


# --- session storage -----------------------------------------------------------------------------------------


async def test_session_storage_is_restored_once_in_each_new_tab(
    browser: cdpengine.Browser, site: str, tmp_path: Path
) -> None:
    file = tmp_path / "state.json"
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate(
            "sessionStorage.setItem('token', 'one'), sessionStorage.setItem('odd', '\\ud800')"
        )
        other = await context.new_page(site)
        await other.evaluate("sessionStorage.setItem('token', 'two')")
        assert (await context.storage.state()).origins == ()
        state = await context.storage.state(file, session_storage=True)
        assert state.origins[0].session_storage == {"token": "one", "odd": "\ud800"}
    async with browser.new_context(storage_state=file) as context:
        for _ in range(2):
            page = await context.new_page(site)
            assert (await page.evaluate("early"))["token"] == "one", "set before the page's first script"
            assert await page.evaluate("sessionStorage.odd === '\\ud800'")
            await page.evaluate("sessionStorage.clear()")
            await page.goto(f"{site}next")
            assert await page.evaluate("early") == {}, "a page's own changes stay"
        await page.evaluate("sessionStorage.setItem('own', '1')")
        async with page.expect_popup() as popup:
            await page.evaluate("void open('/next')")
        assert await popup.value.evaluate("early") == {"own": "1"}, "popups copy their opener's storage"
        later = await context.new_page()
        await later.goto(
            site.replace("127.0.0.1", "localhost")
            if "127.0.0.1" in site
            else site.replace("localhost", "127.0.0.1")
        )
        assert await later.evaluate("early") == {}
        await later.goto(site)
        assert (await later.evaluate("early"))["token"] == "one"


async def test_wrong_options_are_refused(browser: cdpengine.Browser) -> None:
    for option in ("indexed_db", "session_storage"):
        with pytest.raises(InvalidArgumentError, match=option):
            await browser.context.storage.state(**{option: 1})  # type: ignore[arg-type]


async def test_reading_ends_with_its_cancellation(browser: cdpengine.Browser, site: str) -> None:
    async with browser.new_context() as context:
        page = await context.new_page(site)
        await page.evaluate(STRUCTURE)
        with trio.move_on_after(0) as scope:
            await context.storage.state(indexed_db=True)
        assert scope.cancelled_caught
        with pytest.raises(cdpengine.errors.DeadlineExceededError):
            await context.storage.state(indexed_db=True, timeout=0.001)
        assert (await context.storage.state(indexed_db=True)).origins
