"""Programs of other clients, recorded once and replayed without a browser. Skipped if they are not installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from peer_programs import CLIENTS, PACKAGES, run_program
from pytest_httpserver import HTTPServer

from cdpengine import debug
from cdpengine.errors import ReplayDivergedError

PAGE = """<!doctype html><title>Hall</title><input id=name><button id=greet onclick="
  const p = document.createElement('p'); p.id = 'greeting';
  p.textContent = 'Hello ' + document.getElementById('name').value; document.body.append(p)">Greet</button>"""
TIMES = 3


@pytest.mark.sample(4)
@pytest.mark.peers
@pytest.mark.parametrize("name", sorted(PACKAGES))
async def test_a_program_is_replayed_unchanged(
    name: str, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tape.jsonl.zst"
    httpserver.expect_request("/hall").respond_with_data(PAGE, content_type="text/html")
    async with debug.cassette(path, keep_arguments=True) as taped:
        assert taped.mode == "record"
        recorded = await run_program(name, tmp_path, taped.endpoint, httpserver.url_for("/hall"))
    assert recorded.returncode == 0, recorded.stderr.decode()
    said = json.loads(recorded.stdout)
    # From here on no browser and no page server runs. The servers have other ports each time.
    monkeypatch.setenv("CDPENGINE_BROWSER", str(tmp_path / "no-browser"))
    for port in range(40_001, 40_001 + TIMES):
        async with debug.cassette(path, complete=True) as taped:
            assert taped.mode == "replay"
            url = f"http://{httpserver.host}:{port}/hall"
            again = await run_program(name, tmp_path, taped.endpoint, url)
        assert again.returncode == 0, again.stderr.decode()
        assert json.loads(again.stdout) == said


GREET = "document.getElementById('greet')"


@pytest.mark.sample(3)
@pytest.mark.peers
@pytest.mark.parametrize(
    ("name", "place", "recorded", "asked"),
    [
        ("puppeteer", "'#name', 'Ada'", "'#name', 'Ada Lovelace'", "'#name', 'Ada Lovelacf'"),
        ("puppeteer", "'#greeting'", "'#greeting'", "'#graeting'"),
        ("cri", "text: 'Ada'", "text: 'Ada Lovelace'", "text: 'Ada Lovelacf'"),
        ("cri", GREET, GREET, GREET.replace("greet", "great")),
        ("cri", "New({ ...at, url })", "New({ ...at, url })", "New({ ...at, url: `${url}?all` })"),
    ],
    ids=["typed", "selector", "entered", "script", "new tab"],
)
async def test_different_program_diverges(
    name: str,
    place: str,
    recorded: str,
    asked: str,
    tmp_path: Path,
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "tape.jsonl"
    httpserver.expect_request("/hall").respond_with_data(PAGE, content_type="text/html")
    url = httpserver.url_for("/hall")
    (source,) = CLIENTS.glob(f"{name}_client.*")
    changed = tmp_path / "changed"
    changed.mkdir()
    monkeypatch.setattr("peer_programs.CLIENTS", changed)

    async def run(text: str) -> int:
        (changed / source.name).write_text(source.read_text().replace(place, text))
        async with debug.cassette(path, keep_arguments=True) as taped:
            done = await run_program(name, tmp_path, taped.endpoint, url)
        return done.returncode

    assert place in source.read_text()
    assert await run(recorded) == 0
    with pytest.raises(ReplayDivergedError) as caught:
        await run(asked)
    assert "Ada" not in str(caught.value)
