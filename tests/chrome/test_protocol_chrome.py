"""The real browser's protocol: queried, saved, shown, compared, and checked against the engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_here

from cdpengine.debug.explorer.compatibility import check_engine, check_pycdp
from cdpengine.debug.explorer.protocol import Protocol, fetch_protocol
from cdpengine.debug.explorer.protocol_text import entry_json, entry_text
from cdpengine.debug.explorer.vocabulary import engine_uses, read_pycdp
from cdpengine.errors import ConnectFailedError, InvalidArgumentError

pytestmark = pytest.mark.chrome


@pytest.fixture
async def protocol(shared_endpoint: str) -> Protocol:
    return await fetch_protocol(shared_endpoint)


async def test_the_engine_knows_this_browser(protocol: Protocol) -> None:
    assert [str(finding) for finding in check_engine(protocol, engine_uses()) if finding.breaks] == []


async def test_protocol_parts_missing_in_pycdp(protocol: Protocol) -> None:
    found = check_pycdp(protocol, read_pycdp())
    assert {"ApplicationCache.enable", "DOM.PseudoType"} <= {
        finding.name for finding in found if finding.breaks
    }
    assert "Autofill.enable" in {finding.name for finding in found if not finding.breaks}


async def test_every_protocol_item_can_be_shown(protocol: Protocol) -> None:
    for entry in protocol.entries():
        text = entry_text(protocol, entry)
        assert text.startswith(f"{entry.kind} {entry.name}")
        assert len(text) < 400_000
    json.dumps(entry_json(protocol, protocol.find("DOM.getDocument")[0]))


async def test_endpoint_without_browser() -> None:
    with pytest.raises(ConnectFailedError):
        await fetch_protocol("http://127.0.0.1:9")
    with pytest.raises(InvalidArgumentError):
        await fetch_protocol("127.0.0.1:9222")


def test_the_commands_ask_a_running_browser(shared_endpoint: str, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    done = run_here("protocol", "save", str(saved), "--endpoint", shared_endpoint)
    assert done.returncode == 0, done.stderr
    assert "commands" in done.stdout
    shown = run_here("protocol", "show", "page.NAVIGATE", "--file", str(saved))
    assert shown.stdout.startswith("command Page.navigate\n")
    assert "transitionType?: Page.TransitionType (string)" in shown.stdout
    wrong = run_here("protocol", "show", "Page.navigat", "--file", str(saved))
    assert wrong.returncode == 2
    assert "Page.navigate" in wrong.stderr
    found = run_here("protocol", "search", "screenshot", "--json", "--endpoint", shared_endpoint)
    assert "Page.captureScreenshot" in [entry["name"] for entry in json.loads(found.stdout)["entries"]]
    assert run_here("protocol", "search", "no such word", "--file", str(saved)).returncode == 1
