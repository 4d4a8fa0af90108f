"""`cdpengine cache`: the contents of the action cache, shown and maintained, in the process of the test."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from command_line import run_here

from cdpengine.act import ActResponse, Click
from cdpengine.act.commands.verbs import VERBS
from cdpengine.cache import ActionCache, CacheConfig, CacheEntry, Step, Target, Viewport, make_entry, make_key
from cdpengine.shell.printing import print_response

STEP = Step(request=Click(ref="t1"), targets={"t1": Target(role="button", name="Log in")})


def entry(scenario: str, *, ends: float = 1e12) -> CacheEntry:
    key = make_key(
        scenario, f"https://a.example/{scenario}", Viewport(width=800, height=600), ["password", "user"]
    )
    return make_entry(key, [STEP], now=1.0, expires_at=ends, sensitive=("password",))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a cache with three entries, one of which has expired."""
    monkeypatch.setenv("CDPENGINE_CACHE_KEYRING", "false")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))

    async def fill() -> None:
        async with ActionCache.open(tmp_path / "cache.sqlite3", config=CacheConfig(keyring=False)) as cache:
            for made in (entry("login"), entry("search"), entry("login_old", ends=2.0)):
                await cache.store.put(made)
            await cache.store.count({"hits L3": 2, "misses": 1})

    trio.run(fill)
    return tmp_path / "cache.sqlite3"


def command(file: Path, *arguments: str, status: int = 0) -> str:
    done = run_here("cache", *arguments, "--file", str(file))
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_entries_are_listed_and_shown(file: Path) -> None:
    listed = json.loads(command(file, "list", "--json"))["entries"]
    ids = {each["scenario"]: each["entry"] for each in listed}
    table = command(file, "list")
    assert all(each in table for each in ids.values())
    assert "expired" in table
    assert ids["search"] not in command(file, "list", "login")
    assert command(file, "list", "logout") == "no entries\n"
    shown = json.loads(command(file, "show", ids["login"], "--json"))
    assert shown["steps"] == ["click button 'Log in'"]
    assert "after 3 failed runs in a row" in shown["rule"]
    assert shown["statistics"] == {
        "successes": 0, "failures": 0, "mistakes": 0, "cancelled": 0, "stopped": 0, "failedInRow": 0, "totalMs": 0,
        "lastUsedAt": 0,
    }  # fmt: skip
    printed = command(file, "show", ids["login"])
    for words in (
        "click button 'Log in'",
        "rule: ",
        "mistakes of the caller",
        "stopped",
        "source",
        "learned",
    ):
        assert words in printed


def test_scenarios_figures_and_the_guide_are_printed(file: Path) -> None:
    assert "password, user" in command(file, "scenarios")
    assert {each["scenario"] for each in json.loads(command(file, "scenarios", "--json"))["scenarios"]} == {
        "login", "login_old", "search",
    }  # fmt: skip
    assert "2 (L3 2)" in command(file, "stats")
    figures = json.loads(command(file, "stats", "--json"))
    assert (figures["hits"], figures["misses"], figures["store"]["expired"]) == ({"L3": 2}, 1, 1)
    assert round(figures["hitRate"], 3) == 0.667
    assert "- login: variables password, user" in command(file, "guide")
    assert "executeCached" in json.loads(command(file, "guide", "--json"))["guide"]


def test_entries_are_refreshed_deleted_and_moved(file: Path, tmp_path: Path) -> None:
    (found,) = json.loads(command(file, "list", "login", "--json"))["entries"]
    assert command(file, "clear", "login_old") == "1 deleted\n"
    exported = tmp_path / "export.json"
    exported.write_text(command(file, "export"))
    assert command(file, "clear", "search") == "1 deleted\n"
    assert command(file, "import", str(exported)) == "1 added, 0 replaced, 1 kept unchanged\n"
    assert json.loads(command(file, "import", str(exported), "--replace", "--json"))["replaced"] == 2
    assert command(file, "refresh", found["entry"]) == "it will be learned again\n"
    assert command(file, "refresh", found["entry"]) == "it was not in use\n"
    assert json.loads(command(file, "clear", "--all", "--json")) == {"deleted": 2}
    assert command(file, "list") == "no entries\n"
    assert command(file, "scenarios") == "no entries\n"
    for wrong in (["clear"], ["clear", "login", "--all"], ["import", str(tmp_path / "missing")]):
        command(file, *wrong, status=2)


def test_another_owner_sees_nothing(file: Path) -> None:
    assert command(file, "list", "--owner", "ada") == "no entries\n"


@pytest.mark.parametrize("arguments", [["list"], ["stats"], ["export"], ["guide"]])
def test_an_unreadable_file_is_named(tmp_path: Path, file: Path, arguments: list[str]) -> None:
    file.write_bytes(b"not a database" * 999)
    assert "cannot read the cache from" in command(file, *arguments, status=1)
    options = partial(run_here, "cache", *arguments, "--file", str(tmp_path / "other.sqlite3"))
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("CDPENGINE_CACHE_LEARM", "true")
        assert "perhaps learn" in options().stderr


def test_entries_are_shown_by_pages(file: Path) -> None:
    first = command(file, "list", "--limit", "2")
    assert "3 entries in all; --offset 2 shows the next ones" in first
    rest = json.loads(command(file, "list", "--offset", "2", "--json"))
    assert (rest["count"], len(rest["entries"])) == (3, 1)


def id_of(file: Path, scenario: str) -> str:
    listed = json.loads(command(file, "list", scenario, "--json"))["entries"]
    return str(listed[0]["entry"])


def test_an_older_version_is_used_again(file: Path) -> None:
    identity = id_of(file, "login")

    async def change() -> None:
        async with ActionCache.open(file, config=CacheConfig(keyring=False)) as cache:
            changed = attrs.evolve(STEP, request=Click(ref="t1", double_click=True))
            await cache.store.put(attrs.evolve(entry("login"), steps=(changed,)))

    trio.run(change)
    assert len(json.loads(command(file, "versions", identity, "--json"))["versions"]) == 2
    assert command(file, "restore", identity, "1") == "version 1 is restored as version 3\n"
    (restored,) = (
        each for each in json.loads(command(file, "export"))["entries"] if each["key"]["scenario"] == "login"
    )
    assert "doubleClick" not in restored["steps"][0]["request"]
    assert "it has these versions: 3, 2, 1" in command(file, "restore", identity, "9", status=1)
    assert command(file, "refresh", identity) == "it will be learned again\n"
    kept = json.loads(command(file, "versions", identity, "--json"))["versions"]
    assert [each.get("version", 1) for each in kept] == [3, 2, 1]
    assert command(file, "restore", identity, "2") == "version 2 is restored as version 4\n"


def test_one_entry_is_deleted_or_reported(file: Path) -> None:
    identity = id_of(file, "login")
    counted = "1 failure of the entry is counted. It has {} in a row: {}\n"
    assert command(file, "report", identity) == counted.format(1, "its use ends at 3")
    again = json.loads(command(file, "report", identity, "--json"))
    assert again == {"stillUsed": True, "failedInRow": 2, "limit": 3}
    assert command(file, "report", identity) == counted.format(3, "the entry is no longer used")
    assert json.loads(command(file, "list", "login", "--json"))["entries"][0]["failures"] == 3
    assert command(file, "delete", identity) == "deleted\n"
    assert command(file, "list", "login") == "no entries\n"


@pytest.mark.parametrize(
    "arguments", [["show"], ["versions"], ["delete"], ["refresh"], ["report"], ["restore", "1"]], ids=str
)
def test_an_unknown_id_is_an_error_with_advice(file: Path, arguments: list[str]) -> None:
    name, *more = arguments
    for identity in ("nonsense", "0" * 32):
        failed = command(file, name, identity, *more, status=1)
        assert f"entry {identity} is not in the action cache: list the entries to see their ids" in failed


def test_a_damaged_entry_is_named_and_deleted(file: Path) -> None:
    identity = id_of(file, "login")
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE entries SET body = '{' WHERE id = ?", (identity,))
    listed = command(file, "list")
    assert f"entry {identity} is damaged: it is no entry" in listed
    assert f"cdpengine cache delete {identity}" in listed
    assert len(json.loads(command(file, "list", "--json"))["entries"]) == 2
    assert command(file, "delete", identity) == "deleted\n"
    assert "damaged" not in command(file, "list")


def test_known_entries_for_a_sentence_and_a_page(file: Path) -> None:
    def look_up(sentence: str, *more: str) -> Any:
        return json.loads(command(file, "lookup", sentence, "https://a.example/login", "--json", *more))

    found = look_up("log in")
    assert found["entry"]["scenario"] == "login"
    assert (found["acts"], found["variables"], "reason" in found) == (True, [], False)
    unused = look_up("log in as ada")  # the entry has no step with a user name
    assert ("entry" in unused, unused["unused"]) == (False, ["username"])
    assert look_up("log in", "--variant", "b")["reason"] == "there is no entry of the variant 'b'"
    question = look_up("how do I log in?")
    assert (question["acts"], "entry" in question) == (False, True)
    printed = command(file, "lookup", "how do I log in?", "https://a.example/login")
    assert "scenario login: the sentence is no instruction" in printed
    assert "no entry for this address" in command(file, "lookup", "log in", "https://b.example/")


def test_the_shell_prints_the_same_as_the_command(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    identity = id_of(file, "login")
    for arguments in (
        ["list"], ["list", "search"], ["list", "logout"], ["list", "--limit", "1"], ["show", identity],
        ["versions", identity], ["scenarios"], ["stats"], ["lookup", "log in", "https://a.example/login"],
        ["lookup", "how do I log in?", "https://b.example/"], ["restore", identity, "1"], ["report", identity],
        ["refresh", identity], ["refresh", identity], ["delete", identity], ["clear", "search"],
    ):  # fmt: skip
        name, *_ = arguments
        copy = file.with_name("copy.sqlite3")
        shutil.copy(file, copy)
        result = json.loads(command(copy, *arguments, "--json"))
        kind = next(each.kind for each in VERBS.values() if each.name == f"cache-{name}")
        shell = print_response(ActResponse(kind=kind, ok=True, result=result), as_json=False)
        assert shell.out == command(file, *arguments), arguments
        assert (shell.status, shell.err) == (0, "")
