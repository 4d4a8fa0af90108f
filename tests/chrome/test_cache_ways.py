"""Cache requests by every way in: variants, lookups, versions, and the hints before learning."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from rounds import slow_but
from ways_in import WAYS, Way, cache_file, open_way

pytestmark = pytest.mark.chrome

NAMES = {"a": ("City", "Save"), "b": ("Place", "Continue")}
VALUES = {"city": "Rome"}


def form(variant: str) -> str:
    field, button = NAMES[variant]
    return f"""<title>S</title><h1 id=out>S</h1><form aria-label=Settings onsubmit="return false"><label>{field} <input name=x></label>
<button type=button onclick="out.textContent = 'Saved ' + this.form.x.value">{button}</button></form>"""


@pytest.fixture
async def way(
    name: str, shared_endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Way]:
    monkeypatch.setenv("CDPENGINE_CACHE_KEYRING", "false")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    async with open_way(name, shared_endpoint, tmp_path) as opened:
        yield opened


async def say(way: Way, kind: str, **fields: Any) -> dict[str, Any]:
    response = await way.ask({"kind": kind, **fields})
    assert response["ok"], response
    result: dict[str, Any] = response.get("result") or {}
    return result


async def show(way: Way, serve: Callable[..., str], variant: str) -> dict[str, Any]:
    return await way.ask({"kind": "navigate", "url": serve(form(variant), "/settings")})


async def ref_of(way: Way, role: str, name: str) -> str:
    found = await say(way, "find", role=role, name=name)
    ref: str = found["nodes"][0]["ref"]
    return ref


async def learn(way: Way, serve: Callable[..., str], variant: str, clicks: int = 1) -> dict[str, Any]:
    """Learn a variant, and return the hints at its start."""
    await show(way, serve, variant)
    field, button = NAMES[variant]
    begun = await say(way, "startLearning", scenario="settings", variables={"city": "Bonn"}, variant=variant)
    await say(way, "type", ref=await ref_of(way, "textbox", field), text="Bonn")
    for _ in range(clicks):
        await say(way, "click", ref=await ref_of(way, "button", button))
    kept = await say(way, "stopLearning")
    assert kept["entry"]["variant"] == variant
    return begun


async def replay(way: Way, **fields: Any) -> tuple[bool, str]:
    """Replay with `VALUES`. Return whether it succeeded, and the page's content."""
    done = await say(way, "executeCached", variables=VALUES, **fields)
    (heading,) = (await say(way, "find", role="heading"))["nodes"]
    return done["ok"], heading["name"]


async def run_program(*arguments: str) -> dict[str, Any]:
    """Run a `cdpengine cache` command as a separate program."""
    done = await trio.run_process(
        [sys.executable, "-m", "cdpengine", "cache", *arguments, "--json"], capture_stdout=True
    )
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


@pytest.mark.parametrize("name", slow_but(WAYS, ["shell"]))
async def test_variants_are_distinguished_and_do_not_count_against_each_other(
    way: Way, serve: Callable[..., str], tmp_path: Path
) -> None:
    begun = await learn(way, serve, "a")
    assert "the cache has no key" in begun["notice"]
    await learn(way, serve, "b")
    for variant in "ba":
        arrived = await show(way, serve, variant)
        assert {each["variant"] for each in arrived["cached"]} == {"a", "b"}
        assert await replay(way, scenario="settings") == (True, "Saved Rome")
    await show(way, serve, "a")
    assert await replay(way, scenario="settings", variant="b") == (False, "S")
    found = await say(way, "cacheLookup", goal="open the settings", variant="b")
    assert found["entry"]["variant"] == "b"
    listed = (await run_program("list", "--file", str(cache_file(tmp_path))))["entries"]
    figures = {each["variant"]: (each["successes"], each["failures"]) for each in listed}
    assert figures == {"a": (1, 0), "b": (1, 0)}


@pytest.mark.parametrize("name", slow_but(WAYS, ["dispatch", "mcp"]))
async def test_lookup_classifies_a_sentence_and_versions_survive_refresh(
    name: str, way: Way, serve: Callable[..., str], tmp_path: Path
) -> None:
    await learn(way, serve, "a")
    url = serve(form("a"), "/settings")
    file = str(cache_file(tmp_path))
    for goal, fields in (
        ("how do I open the settings?", {"acts": False}),
        ("open the settings", {"acts": True, "variables": []}),
        ("settings: language German", {"unused": ["language"], "variables": ["language"]}),
    ):
        found = await say(way, "cacheLookup", goal=goal)
        assert found["scenario"] == "settings"
        assert fields.items() <= found.items()
        assert ("entry" in found) is ("unused" not in fields)
        if name == "dispatch":  # the command has only the page's address and reports the same
            assert await run_program("lookup", goal, url, "--file", file) == found
    (entry,) = (await say(way, "cacheList"))["entries"]
    identity = entry["entry"]
    assert await say(way, "reportError", entry=identity) == {"stillUsed": True, "failedInRow": 1, "limit": 3}
    shown = await say(way, "cacheShow", entry=identity)
    assert shown["entry"] == entry | {"successRate": 0, "failures": 1}
    assert "click button 'Save'" in shown["steps"]
    command = await run_program("show", identity, "--file", file)
    assert shown == command
    assert (shown["statistics"]["failures"], shown["statistics"]["failedInRow"]) == (1, 1)
    assert "after 3 failed runs in a row" in shown["rule"]
    for kind in ("cacheShow", "cacheVersions", "cacheDelete", "forceRefresh", "reportError"):
        missing = (await way.ask({"kind": kind, "entry": "nonsense"}))["error"]
        assert (missing["kind"], "entry nonsense is not in the action cache" in missing["message"]) == (
            "cacheMiss",
            True,
        )
        assert missing["hint"].endswith("lists the entries with their ids.")
    typo = (await way.ask({"kind": "executeCached", "scenario": "setings", "variables": VALUES}))["error"]
    assert "no scenario has this name. Perhaps you mean settings" in typo["message"]
    assert await say(way, "forceRefresh", entry=identity) == {"refreshed": True}
    assert await say(way, "forceRefresh", entry=identity) == {"refreshed": False}
    refused = await way.ask({"kind": "executeCached", "scenario": "settings", "variables": VALUES})
    assert refused["error"]["kind"] == "cacheMiss"
    assert [each["version"] for each in (await say(way, "cacheVersions", entry=identity))["versions"]] == [1]
    await learn(way, serve, "a", clicks=2)
    versions = (await say(way, "cacheVersions", entry=identity))["versions"]
    assert [each["version"] for each in versions] == [2, 1]
    assert (await say(way, "cacheRestore", entry=identity, version=1))["entry"]["version"] == 3
    await show(way, serve, "a")
    assert await replay(way, entry=identity) == (True, "Saved Rome")
