"""The commands `screenshot`, `pdf` and `trace`: their files, their output and their refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_here
from PIL import Image

pytestmark = pytest.mark.chrome

PAGE = "data:text/html,<title>t</title><body style='margin:0;height:2000px;background:red'><b>x</b>"


def test_a_picture(shared_endpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "a.webp"
    options = ["--full-page", "--viewport", "400x300", "--scale", "2"]
    done = run_here("screenshot", PAGE, "-o", str(path), *options, "--endpoint", shared_endpoint)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{path}  {path.stat().st_size} bytes\n"
    with Image.open(path) as image:
        assert (image.format, image.height) == ("WEBP", 4000)
    part = tmp_path / "b.png"
    done = run_here(
        "screenshot", PAGE, "-o", str(part), "--target", "b", "--json", "--endpoint", shared_endpoint
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["bytes"] == part.stat().st_size


@pytest.mark.parametrize(
    "arguments",
    [
        ("screenshot", PAGE, "-o", "a.gif"),
        ("screenshot", PAGE, "-o", "a.png", "--clip", "1,2,3"),
        ("screenshot", PAGE, "-o", "a.jpg", "--omit-background"),
        ("pdf", PAGE, "-o", "a.pdf", "--paper", "A99"),
        ("pdf", PAGE, "-o", "a.pdf", "--margin", "1,x"),
        ("trace", PAGE, "-o", "t.json", "--categories", "-v8"),
    ],
    ids=str,
)
def test_invalid_arguments_are_refused(shared_endpoint: str, arguments: tuple[str, ...]) -> None:
    done = run_here(*arguments, "--endpoint", shared_endpoint)
    assert done.returncode == 2
    assert "Error" in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path(arguments[-1]).exists()


def test_paper(shared_endpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    options = ["--paper", "10cmx20cm", "--margin", "1cm,2cm", "--pages", "1", "--json"]
    done = run_here("pdf", PAGE, "-o", str(path), *options, "--endpoint", shared_endpoint)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["bytes"] == path.stat().st_size
    assert path.read_bytes().startswith(b"%PDF")
    done = run_here("pdf", PAGE, "-o", str(tmp_path / "none" / "a.pdf"), "--endpoint", shared_endpoint)
    assert done.returncode == 2
    assert "folder does not exist" in done.stderr


def test_a_trace(shared_endpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    done = run_here("trace", PAGE, "-o", str(path), "--for", "0.1", "--endpoint", shared_endpoint)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Open it at https://ui.perfetto.dev" in done.stdout
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    other = tmp_path / "other.pftrace"
    done = run_here("trace", PAGE, "-o", str(other), "--json", "--endpoint", shared_endpoint)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trace"]["size"] == other.stat().st_size
    assert {each.name for each in tmp_path.iterdir()} == {"t.json.gz", "other.pftrace"}
