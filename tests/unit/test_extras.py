"""Optional packages: the engine imports without them, and each missing package is named in one line.

A module finder in a separate program blocks the packages, so no other environment is needed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from cdpengine.cli.doctor import check_packages
from cdpengine.errors import PackageMissingError, missing_package, packages_named
from cdpengine.errors.shortages import _OPTIONAL

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
SHARED = {"crawl": {"httpx"}, "http": {"httpx"}, "service": {"cryptography"}}
"""Packages of an extra that the table lists under another extra."""

MODULES = {extra: {module for module, (_, _, of) in _OPTIONAL.items() if of == extra} for extra in EXTRAS}

BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Refuse(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
        return None

sys.meta_path.insert(0, Refuse())
"""

ENGINE = """
import importlib, pkgutil
import cdpengine, cdpengine.debug

def names(package, prefix):
    for each in pkgutil.iter_modules(package.__path__, prefix):
        # pytest itself needs pygments. Step traces need the extra "debug".
        if each.name in ("cdpengine.cli", "cdpengine.service", "cdpengine.shell.background", "cdpengine.cluster", "cdpengine.__main__", "cdpengine.testing.pytest_plugin", "cdpengine.codegen.from_trace"):
            continue
        yield each.name
        if each.ispkg and each.name != "cdpengine.debug":
            yield from names(importlib.import_module(each.name), each.name + ".")

count = 0
for name in names(cdpengine, "cdpengine."):
    importlib.import_module(name)
    count += 1
for name in cdpengine.__all__:
    getattr(cdpengine, name)
import cdpengine.cli
print("imported", count)
"""


def run(names: set[str], program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in which the modules `names` cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", BLOCKED.format(names=names) + program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def package_names(requirements: list[str]) -> set[str]:
    names = (re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0] for requirement in requirements)
    return {name.replace("_", "-") for name in names}


def test_the_table_of_packages_matches_the_project() -> None:
    for extra in EXTRAS.keys() - {"all"}:
        assert package_names(EXTRAS[extra]) == {
            package for package, _, of in _OPTIONAL.values() if of == extra
        } | SHARED.get(extra, set()), extra
    assert EXTRAS["all"] == [f"cdpengine[{','.join(name for name in EXTRAS if name != 'all')}]"]
    optional = {package for package, _, _ in _OPTIONAL.values()}
    assert not package_names(PROJECT["dependencies"]) & optional


def test_the_lock_has_every_package() -> None:
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE))
    wanted = package_names(PROJECT["dependencies"]).union(*map(package_names, EXTRAS.values()))
    assert wanted - {"cdpengine"} <= locked


def test_the_engine_is_imported_without_any_of_them() -> None:
    done = run(set(_OPTIONAL), ENGINE)
    assert done.stderr == ""
    assert int(done.stdout.removeprefix("imported ")) > 150
    assert (
        run(
            {"click", "rich"}, "import cdpengine\nfor name in cdpengine.__all__: getattr(cdpengine, name)"
        ).stderr
        == ""
    )


def test_the_proxy_names_missing_packages() -> None:
    program = f"""
import trio
from cdpengine.debug import proxy

async def main():
    async with proxy("ws://127.0.0.1:1/devtools/browser/x"):
        pass

{caught("trio.run(main)")}
"""
    assert_one_line(run({"httpx"}, program).stdout, "httpx", "debug")


@pytest.mark.sample(2)
@pytest.mark.parametrize("json", [False, True])
@pytest.mark.parametrize("kind", ["jsonl.zst", "jsonl"])
def test_commands_of_recordings_name_missing_packages(tmp_path: Path, kind: str, json: bool) -> None:
    recording = tmp_path / f"some.{kind}"
    recording.write_bytes(
        b"\x28\xb5\x2f\xfd\x00" if kind.endswith("zst") else b'{"cdpengine":"recording"}\n{"k":"end"}\n'
    )
    program = "import cdpengine.cli\ncdpengine.cli.main()"
    done = run(MODULES["debug"], program, "recording", "stats", str(recording), *(["--json"] if json else []))
    if kind == "jsonl":  # uncompressed files need none of them
        assert (done.returncode, done.stderr) == (0, "")
        return
    assert done.returncode == 1
    assert_one_line(done.stderr.removeprefix("Error: "), "zstandard", "debug")
    assert done.stdout.startswith("{") if json else done.stdout == ""


def test_manners_name_missing_packages() -> None:
    program = f"""
import trio
from cdpengine.pool.manners import Manners
async def main():
    await Manners(foreign_only=False).check("http://127.0.0.1:9/")

{caught("trio.run(main)")}
"""
    assert_one_line(run({"protego"}, program).stdout, "protego", "crawl")
    assert_one_line(run({"httpx"}, program).stdout, "httpx", "crawl")


def test_watching_names_missing_packages() -> None:
    names = ("Redactor", "Recorder", "cassette", "log_traffic", "record")
    program = "\n".join(["import cdpengine.debug", *(caught(f"cdpengine.debug.{name}") for name in names)])
    lines = run(MODULES["debug"], program).stdout.splitlines(keepends=True)
    assert len(lines) == len(names)
    for line in lines:
        assert_one_line(line, "ahocorasick-rs", "debug")


def test_compressed_recordings_need_zstandard_and_leave_no_file(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl.zst"
    program = f"""
import pathlib, trio
from cdpengine.debug.recording.traffic_recorder import TrafficRecorder
async def main():
    TrafficRecorder(pathlib.Path({str(path)!r}), limit=0, queued=1, redactor=None, product="")

{caught("trio.run(main)")}
"""
    done = run({"zstandard"}, program)
    assert_one_line(done.stdout, "zstandard", "debug")
    assert not path.exists()


def test_archives_of_requests_name_missing_packages() -> None:
    program = f"""
from types import SimpleNamespace
from cdpengine._api.scopes.archives import make_redactor
state = SimpleNamespace(instruments=SimpleNamespace(secrets=[]))
{caught("make_redactor(state)")}
"""
    assert_one_line(run(MODULES["debug"], program).stdout, "ahocorasick-rs", "debug")


PICTURES = (
    """from cdpengine._snapshot.labels import draw_labels as f
args, more = (b'', []), {'width': 1.0, 'image_format': 'png', 'quality': None}""",
    "from cdpengine._pictures.editing import size_of as f; args, more = (b'',), {}",
    "from cdpengine._pictures.editing import paint_boxes as f; args, more = (b'', [], '#000000', 'png', None), {}",
    "from cdpengine._pictures.editing import join_pictures as f; args, more = ([[b'']], 'png', None), {}",
    "from cdpengine._pictures.editing import to_rgba as f; args, more = (b'',), {}",
)
"""Each statement defines `f`, the function to call, with its arguments."""


def test_pictures_name_missing_packages() -> None:
    program = "\n".join(f"{text}\n{caught('f(*args, **more)')}" for text in PICTURES)
    lines = run({"PIL"}, program).stdout.splitlines(keepends=True)
    assert len(lines) == len(PICTURES)
    for line in lines:
        assert_one_line(line, "pillow", "pictures")


def caught(statement: str) -> str:
    """Return a program that prints the PackageMissingError of a statement, or "got" if none is raised."""
    return f"""
from cdpengine.errors import EngineError, PackageMissingError
try:
    {statement}
except EngineError as error:
    assert type(error) is PackageMissingError, type(error)
    print(error)
else:
    print("got")
"""


def assert_one_line(output: str, package: str, extra: str) -> None:
    assert output.count("\n") == 1, output
    assert output.startswith(f"the package {package}, which ")
    assert output.endswith(f" is not installed: pip install 'cdpengine[{extra}]'\n")


def test_the_doctor_distinguishes_optional_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name in ("pillow", "cattrs"):
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    wanted = [
        "cattrs>=24.1",
        "trio>=0.27",
        "pillow>=10.1; extra == 'all'",
        "httpx>=0.27; extra == 'all'",
        "httpx>=0.27; extra == 'crawl'",
        "httpx>=0.27; extra == 'debug'",
        "httpx>=0.27; extra == 'http'",
        "pillow>=10.1; extra == 'pictures'",
        "cdpengine[repl]; extra == 'all'",
    ]
    monkeypatch.setattr(metadata, "requires", lambda _name: wanted)
    monkeypatch.setattr(metadata, "version", version)
    assert [(each.subject, each.status, each.advice) for each in check_packages()] == [
        ("cattrs", "fail", "python -m pip install 'cattrs>=24.1'"),
        ("pillow", "warn", "python -m pip install 'cdpengine[pictures]'"),
        ("packages", "ok", ""),
    ]


def test_the_doctor_lists_each_package_once() -> None:
    *_, packages = check_packages()
    names = [each.split()[0] for each in packages.detail.split(", ")]
    assert sorted(names) == sorted(set(names))
    assert "httpx" in names


def test_other_failed_imports_leave_as_they_are() -> None:
    assert missing_package(ImportError("cannot import name", name="mcp")) is None
    assert missing_package(ModuleNotFoundError("No module named 'nothing'", name="nothing")) is None
    with pytest.raises(ModuleNotFoundError, match="nothing"), packages_named():
        raise ModuleNotFoundError("No module named 'nothing'", name="nothing")
    with pytest.raises(PackageMissingError) as caught_error, packages_named():
        raise ModuleNotFoundError("No module named 'PIL.Image'", name="PIL.Image")
    assert (caught_error.value.package, caught_error.value.extra) == ("pillow", "pictures")
