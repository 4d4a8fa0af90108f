"""The wheel and the sdist install in a fresh environment and work there."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(180)]

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(source: Path, folder: Path, *options: str) -> Path:
    """Build a distribution of the source tree into `folder` and return its path."""
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, *options, folder=source)
    (built,) = folder.iterdir()
    return built


def uv(*arguments: str | Path, folder: Path) -> str:
    return run(Path(sys.executable).parent / "uv", *arguments, folder=folder)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "-t", "wheel")


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with the wheel and its dependencies at the locked versions."""
    folder = tmp_path_factory.mktemp("environment")
    uv("venv", "--python", sys.executable, folder / "venv", folder=folder)
    python = folder / "venv" / "bin" / "python"
    uv(
        "pip", "install", "--python", python, f"{wheel}", "--constraint", ROOT / "requirements.lock",
        folder=folder,
    )  # fmt: skip
    return folder


def test_the_quickstart_runs_from_the_wheel(environment: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    program, output = re.findall(r"^```(?:python|text)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)[:2]
    (environment / "program.py").write_text(program)
    assert run(environment / "venv/bin/python", "program.py", folder=environment) == output


def test_the_command_of_the_wheel_works(environment: Path) -> None:
    command = environment / "venv/bin/cdpengine"
    assert "import re" not in command.read_text()  # importing it would take a third of the command's start
    assert "ok" in run(command, "doctor", folder=environment)
    assert "10 of 10 steps succeeded" in run(command, "demo", folder=environment)


def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    sdist = build(ROOT, tmp_path / "sdist", "-t", "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    with (
        zipfile.ZipFile(wheel) as ours,
        zipfile.ZipFile(build(source, tmp_path / "rebuilt", "-t", "wheel")) as theirs,
    ):
        assert sorted(ours.namelist()) == sorted(theirs.namelist())
        (metadata,) = (name for name in ours.namelist() if name.endswith("/METADATA"))
        assert not re.search(r"\]\((?!https?:)", ours.read(metadata).decode())
