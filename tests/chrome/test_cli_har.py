"""The command `cdpengine har`: the archive that it writes and the arguments that it refuses."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run_here
from json_schema import breaches

from cdpengine.cli.demo import serve_shop

SCHEMA = json.loads(
    (Path(__file__).parent.parent / "unit" / "data" / "har-1.2.schema.json").read_text("utf-8")
)


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serve_shop() as url:
        yield url


def test_a_pages_requests_become_an_archive(shop: str, shared_endpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "shop.har"
    done = run_here("har", f"{shop}?token=s3cr3t", "-o", str(path), "--endpoint", shared_endpoint, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    archive: dict[str, Any] = json.loads(done.stdout)
    document = json.loads(path.read_text("utf-8"))
    assert list(breaches(document, SCHEMA)) == []
    entries = document["log"]["entries"]
    assert archive["requests"] == len(entries) >= 1
    assert archive["bytes"] == path.stat().st_size
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "s3cr3t" not in path.read_text("utf-8")
    assert entries[0]["response"]["content"]["text"].lower().startswith("<!doctype html>")
    bare = run_here(
        "har",
        f"{shop}?token=s3cr3t",
        "-o",
        "-",
        "--endpoint",
        shared_endpoint,
        "--no-bodies",
        "--with-secrets",
        "--no-settle",
    )
    assert bare.returncode == 0
    assert "token=s3cr3t" in bare.stdout
    assert list(breaches(json.loads(bare.stdout), SCHEMA)) == []


def test_invalid_arguments_are_refused_before_browser_starts(tmp_path: Path) -> None:
    for arguments, words in (
        (["https://example.com"], "-o"),
        (["https://example.com", "-o", str(tmp_path / "no" / "a.har")], "the folder does not exist"),
        (["https://example.com", "-o", "-", "--json"], "--json prints a summary"),
        (["example.com", "-o", "a.har"], "has no scheme"),
    ):
        done = run_here("har", *arguments, "--browser", "/no/such/browser")
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
