"""Storage states as JSON and as files: round trips, and everything invalid."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import cdpengine
from cdpengine._api.scopes.storage import load_state
from cdpengine._storage.cookies import Cookie, CookiePartition
from cdpengine._storage.storage_state import OriginState, StorageState, check_state, read_state, write_state
from cdpengine.errors import FileNotWrittenError

STATE = StorageState(
    (
        Cookie("a", "one", domain=".x.com", expires=2e9, http_only=True, same_site="Lax"),
        Cookie("p", "twö 😀", domain="x.com", secure=True, partition=CookiePartition("https://t.com", False)),
    ),
    (OriginState("https://x.com", {"k": "v", "": "", "emoji 😀": "line\nbreak"}),),
)


def test_round_trip(tmp_path: Path) -> None:
    assert StorageState.from_json(STATE.to_json()) == STATE
    path = tmp_path / "state.json"
    write_state(path, STATE)
    assert read_state(path) == STATE
    assert StorageState.from_json(StorageState().to_json()) == StorageState()


def test_texts_without_a_utf_8_form_survive(tmp_path: Path) -> None:
    """JavaScript strings can contain unpaired surrogates, and pages store them."""
    odd = StorageState((), (OriginState("https://x.com", {"\ud800": "a\udfff", "both": "\ude00\ud83d😀"}),))
    write_state(tmp_path / "state.json", odd)
    assert read_state(tmp_path / "state.json") == odd
    assert (tmp_path / "state.json").read_bytes().decode("utf-8")


def test_as_playwright_writes_it() -> None:
    plain = json.loads(STATE.to_json())
    assert plain["cookies"][0] == {
        "name": "a",
        "value": "one",
        "domain": ".x.com",
        "path": "/",
        "expires": 2e9,
        "httpOnly": True,
        "secure": False,
        "sameSite": "Lax",
    }
    assert plain["origins"][0]["localStorage"][0] == {"name": "k", "value": "v"}
    text = """{"cookies": [{"name": "n", "value": "v", "domain": "a.com", "path": "/", "expires": -1, "httpOnly": false,
        "secure": false, "sameSite": "Lax", "newer": 1}], "origins": [], "newer": {}}"""
    assert StorageState.from_json(text).cookies == (Cookie("n", "v", "a.com", same_site="Lax"),)


async def test_a_dict_is_a_state() -> None:
    plain = json.loads(STATE.to_json())
    assert await load_state("storage_state", plain) == STATE
    assert StorageState.from_dict({"cookies": []}) == StorageState()
    with pytest.raises(cdpengine.errors.InvalidArgumentError) as caught:
        await load_state("storage_state", {"cookies": [{"name": "a", "value": 5, "domain": "SECRET"}]})
    assert "storage_state: got a dict" in str(caught.value)
    assert "cookies[0].value" in str(caught.value)
    assert "SECRET" not in str(caught.value)
    for wrong in (5, ["SECRET"], b"SECRET"):
        with pytest.raises(cdpengine.errors.InvalidArgumentError) as caught:
            await load_state("storage_state", wrong)  # type: ignore[arg-type]
        expected = 'a StorageState, a dict with "cookies" and "origins", or the path of a file'
        assert f"expected {expected}" in str(caught.value)
        assert "SECRET" not in str(caught.value)


WRONG = {
    "": "text that is not JSON",
    "{": "line 1",
    "[]": "not an object",
    "null": "not an object",
    '{"log": {"entries": []}}': "not an object",
    "[" * 100_000: "nested",
    '{"cookies": 5}': "list",
    '{"cookies": "ab"}': "list",
    '{"cookies": [5]}': r"cookies\[0\]",
    '{"cookies": [{"name": "a"}]}': r"cookies\[0\].value",
    '{"cookies": [{"name": "a", "value": 5, "domain": "x"}]}': r"cookies\[0\].value",
    '{"cookies": [{"name": "a", "value": "SECRET;", "domain": "x"}]}': r"cookies\[0\].value",
    '{"cookies": [{"name": "a", "value": "b", "domain": "x", "expires": true}]}': "expires",
    '{"cookies": [{"name": "a", "value": "b", "domain": "x", "expires": NaN}]}': "NaN",
    '{"cookies": [{"name": "a", "value": "b", "domain": "x", "secure": 1}]}': "secure",
    '{"cookies": [{"name": "a", "value": "b", "domain": "x", "sameSite": "lax"}]}': "same_site",
    '{"cookies": [{"name": "a", "value": "b", "domain": "x", "partitionKey": "t"}]}': "partition",
    '{"origins": [{"origin": "x"}]}': r"origins\[0\].origin",
    '{"origins": [{"origin": "https://x", "localStorage": {}}]}': r"origins\[0\]",
    '{"origins": [{"origin": "https://x", "localStorage": [{"name": "SECRET"}]}]}': "value",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_an_invalid_file(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(cdpengine.errors.FileUnreadableError, match=message) as caught:
        read_state(path)
    assert str(path) in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none", "No such file"), (tmp_path, "directory")):
        with pytest.raises(cdpengine.errors.FileUnreadableError, match=message):
            read_state(path)
    (tmp_path / "raw").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(cdpengine.errors.FileUnreadableError, match="UTF-8"):
        read_state(tmp_path / "raw")
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + STATE.to_json().encode())
    assert read_state(tmp_path / "marked") == STATE


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_written_privately_and_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text("old")
    path.chmod(0o644)
    write_state(path, STATE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    broken = StorageState((Cookie("a", object(), "a.com"),))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        write_state(path, broken)
    with pytest.raises(FileNotWrittenError, match="No such file"):
        write_state(tmp_path / "nowhere" / "state.json", STATE)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    write_state(link, StorageState())
    assert link.is_symlink()
    assert path.read_bytes() != before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.json", "state.json"], "no partial file"


def test_a_state_made_by_the_program_is_checked() -> None:
    assert check_state(STATE) == STATE
    for wrong in (
        StorageState((Cookie("a", "b"),)),
        StorageState((), (OriginState("x", {}),)),
        StorageState((), (OriginState("https://x", {"k": 5}),)),  # type: ignore[dict-item]
    ):
        with pytest.raises(cdpengine.errors.InvalidArgumentError):
            check_state(wrong)


def test_the_repr_contains_no_secret() -> None:
    assert "one" not in repr(STATE)
    assert "line" not in repr(STATE.origins)
