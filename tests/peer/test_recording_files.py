"""The file of a recording: a new file, or one that is overwritten on purpose, with a number for further
browsers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import cdpengine
from cdpengine import debug
from cdpengine._protocol.instruments import Instruments
from cdpengine.debug.recording.recorder import record_traffic
from cdpengine.testing import ScriptedPeer


@pytest.fixture
async def peer(guard: None) -> AsyncIterator[ScriptedPeer]:
    async with ScriptedPeer() as peer:
        yield peer


async def session(peer: ScriptedPeer, method: str) -> None:
    async with cdpengine.connect(peer.endpoint) as browser:
        await browser.session.call(method)


def methods(path: Path) -> set[str]:
    with debug.open_recording(path) as recording:
        return {line.m for line in recording if line.m.startswith("Mark.")}


async def test_each_further_browser_of_a_program_gets_a_numbered_file(
    peer: ScriptedPeer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDPENGINE_RECORD", str(tmp_path / "a.jsonl.zst"))
    async with cdpengine.connect(peer.endpoint) as browser:
        await session(peer, "Mark.inner")
        await browser.session.call("Mark.outer")
    await session(peer, "Mark.after")
    assert {path.name: methods(path) for path in tmp_path.iterdir()} == {
        "a.jsonl.zst": {"Mark.outer"},
        "a-2.jsonl.zst": {"Mark.inner"},
        "a-3.jsonl.zst": {"Mark.after"},
    }


@pytest.mark.parametrize("there", ["a.jsonl", "a-2.jsonl"])
async def test_an_earlier_file_is_refused_before_anything_is_sent(
    peer: ScriptedPeer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    monkeypatch.setenv("CDPENGINE_RECORD", str(tmp_path / "a.jsonl"))
    (tmp_path / there).write_text("old")
    if there == "a-2.jsonl":
        await session(peer, "Mark.first")
    links = len(peer.links)
    with pytest.raises(
        cdpengine.errors.InvalidArgumentError, match="CDPENGINE_RECORD_OVERWRITE=1"
    ) as refused:
        await session(peer, "Mark.refused")
    assert str(tmp_path / there) in str(refused.value)
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="which exists already"):
        async with cdpengine.launch(executable="/bin/false"):
            pytest.fail("no browser was to be started")
    assert len(peer.links) == links
    assert (tmp_path / there).read_text() == "old"
    monkeypatch.setenv("CDPENGINE_RECORD_OVERWRITE", "1")
    await session(peer, "Mark.overwriting")
    assert methods(tmp_path / there) == {"Mark.overwriting"}


async def test_a_removed_recording_frees_its_name(
    peer: ScriptedPeer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    monkeypatch.setenv("CDPENGINE_RECORD", str(path))
    for name in ("Mark.one", "Mark.two"):
        await session(peer, name)
        assert [methods(each) for each in tmp_path.iterdir()] == [{name}]
        path.unlink()


async def test_a_failed_connection_leaves_no_recording(
    peer: ScriptedPeer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDPENGINE_RECORD", str(tmp_path / "a.jsonl"))
    peer.handshake = 403
    with pytest.raises(cdpengine.errors.ConnectFailedError):
        await session(peer, "Mark.refused")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="listening address"):
        async with debug.proxy(peer.endpoint, record=tmp_path / "p.jsonl", host="192.0.2.1"):
            pytest.fail("this address must fail")
    assert list(tmp_path.iterdir()) == []


async def test_a_proxy_refuses_a_file_that_exists(peer: ScriptedPeer, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("old")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="overwrite=True"):
        async with debug.proxy(peer.endpoint, record=path):
            pytest.fail("there is a file")
    assert path.read_text() == "old"
    async with (
        debug.proxy(peer.endpoint, record=path, overwrite=True) as proxy,
        cdpengine.connect(proxy.endpoint) as browser,
    ):
        await browser.session.call("Mark.proxied")
    assert methods(path) == {"Mark.proxied"}


async def test_a_tap_refuses_a_file_that_exists(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("old")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="which exists already"):
        async with record_traffic(Instruments(), path):
            pytest.fail("there is a file")
    async with record_traffic(Instruments(), path, overwrite=True):
        pass
    assert path.read_text() != "old"
