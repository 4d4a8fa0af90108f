"""Saved states: encryption at rest, the sources of the key, and refusals."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from cdpengine import Cookie, StorageState
from cdpengine._storage.saved_states import KEY_VARIABLE, SavedStates
from cdpengine.errors import FileUnreadableError, InvalidArgumentError

STATE = StorageState((Cookie("sid", "very-secret-value", domain="shop.example"),), ())
KEY = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SavedStates:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    return SavedStates(tmp_path / "states")


def test_a_saved_state_is_the_same_after_loading(states: SavedStates) -> None:
    states.save("shop", STATE)
    assert states.load("shop") == STATE
    assert [each.name for each in states.list()] == ["shop"]
    states.delete("shop")
    assert not states.list()


def test_files_are_encrypted_and_private(states: SavedStates) -> None:
    states.save("shop", STATE)
    files = {path.name: path for path in states.folder.iterdir()}
    assert set(files) == {"shop.state", "key"}
    assert stat.S_IMODE(states.folder.stat().st_mode) == 0o700
    for path in files.values():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert b"secret" not in path.read_bytes()


def test_the_key_of_the_environment_is_stored_nowhere(
    states: SavedStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    states.save("shop", STATE)
    assert [path.name for path in states.folder.iterdir()] == ["shop.state"]
    assert states.load("shop") == STATE
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(FileUnreadableError, match="its key cannot be read"):
        states.load("shop")
    monkeypatch.setenv(KEY_VARIABLE, "00" * 32)
    with pytest.raises(FileUnreadableError, match="another key or name"):
        states.load("shop")
    monkeypatch.setenv(KEY_VARIABLE, "short")
    with pytest.raises(InvalidArgumentError, match=KEY_VARIABLE) as refused:
        states.save("shop", STATE)
    assert "short" not in str(refused.value)


def test_a_state_opens_only_under_its_name_and_unchanged(states: SavedStates) -> None:
    states.save("shop", STATE)
    path = states.folder / "shop.state"
    path.with_name("bank.state").write_bytes(path.read_bytes())
    with pytest.raises(FileUnreadableError):
        states.load("bank")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileUnreadableError):
        states.load("shop")
    path.write_bytes(b"{}")
    with pytest.raises(FileUnreadableError, match="not a saved state"):
        states.load("shop")


def test_wrong_names_and_open_keys_are_refused(states: SavedStates) -> None:
    for name in ("", "../x", "a/b", ".hidden", "x" * 65):
        with pytest.raises(InvalidArgumentError, match="letters, digits"):
            states.save(name, STATE)
    states.save("shop", STATE)
    with pytest.raises(InvalidArgumentError, match="'shop'"):
        states.load("bank")
    with pytest.raises(InvalidArgumentError, match="'shop'"):
        states.delete("bank")
    (states.folder / "key").chmod(0o644)
    with pytest.raises(InvalidArgumentError, match="others can read"):
        states.load("shop")
