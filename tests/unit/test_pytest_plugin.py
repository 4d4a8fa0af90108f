"""The plugin of pytest, without a browser: options, markers, runners, files, and what it costs other tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from cdpengine.testing.pytest_plugin.artifacts import TRAFFIC, Artifacts
from cdpengine.testing.pytest_plugin.attempt import Attempt
from cdpengine.testing.pytest_plugin.shared_browser import SharedBrowser
from cdpengine.testing.pytest_plugin.versions import meets

PLUGIN = "cdpengine.testing.pytest_plugin"
ROOT = Path(__file__).parents[2]


def run(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str, **files: str) -> str:
    """Write files to a folder, run their tests in this process, and return the output."""
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
        sys.modules.pop(name, None)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = asyncio\n")
    options = ["-q", "--import-mode=importlib", "--rootdir", str(folder), "-c", str(folder / "pytest.ini")]
    blocked = ["cacheprovider", "hypothesispytest", "anyio", "schemathesis"]
    blocks = [each for name in blocked for each in ("-p", f"no:{name}")]
    pytest.main([*options, *blocks, "-p", PLUGIN, *arguments, str(folder)])
    return capsys.readouterr().out


def test_pytest_finds_the_plugin_by_its_module_name() -> None:
    """Otherwise pytest would register it twice where a conftest.py names the module."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}


def test_other_tests_import_neither_trio_nor_the_engine(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    (tmp_path / "conftest.py").write_text(
        "import sys\n\ndef pytest_unconfigure():\n    print(*sorted(sys.modules), sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", PLUGIN, str(tmp_path)],
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=80,
        check=True,
    )
    assert "1 passed" in done.stdout
    loaded = {line for line in done.stdout.splitlines() if line.startswith(("cdpengine", "trio", "msgspec"))}
    assert loaded == {
        "cdpengine",
        "cdpengine.testing",
        PLUGIN,
        *(f"{PLUGIN}.{each}" for each in ("fixtures", "options", "pages", "usage")),
    }


OTHER_PLUGIN = """
import pytest

def pytest_addoption(parser):
    group = parser.getgroup("other")
    group.addoption("--headed", action="store_true")
    group.addoption("--device", default=None)
    group.addoption("--output", default="elsewhere")

@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(parser):
    yield
    parser.getgroup("other").addoption("--base-url", default=None)

@pytest.fixture
def page():
    return "the other plugin's page"
"""

OPTIONS_TEST = """
def test_options(launch_options, context_options):
    print(launch_options, context_options)

def test_page(page):
    print(page)
"""


def test_options_of_playwright_are_shared_and_its_fixtures_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/playwright.py").write_text(OTHER_PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path / "plugins"))
    arguments = ("-s", "-p", "playwright", "--headed", "--device=iPhone 15", "--base-url=http://x.example")
    try:
        output = run(tmp_path, capsys, *arguments, "--slow-mo=0.5", test_shared=OPTIONS_TEST)
    finally:
        sys.modules.pop("playwright", None)
    assert "2 passed" in output, output
    assert "{'headless': False, 'slow_mo': 0.5}" in output
    assert "{'activity': True, 'device': 'iPhone 15', 'base_url': 'http://x.example'}" in output
    assert "the other plugin's page" in output


def test_options_of_a_project_with_other_meanings_are_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conftest = "def pytest_addoption(parser):\n    parser.addoption('--device', default='cpu')\n"
    test = "def test_it(context_options, request):\n    print(context_options, request.config.getoption('--device'))\n"
    output = run(tmp_path, capsys, "-s", "--device=cuda", conftest=conftest, test_device=test)
    assert "1 passed" in output, output
    assert "{'activity': True} cuda" in output


def test_a_conftest_can_load_the_plugin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conftest = f"pytest_plugins = ['{PLUGIN}']\n"
    test = "def test_it(launch_options):\n    assert launch_options == {'headless': False}\n"
    output = run(tmp_path, capsys, "--headed", conftest=conftest, test_loaded=test)
    assert "1 passed" in output, output


PEER = """
import pytest

async def test_coroutine(cdp_peer, cdp_connection):
    assert cdp_peer.endpoint.startswith("ws://")

def test_function(cdp_peer):
    pass

@pytest.mark.asyncio
async def test_other_runner(page):
    pass
"""


def test_pytest_trio_runs_coroutines_with_the_fixtures_without_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = run(tmp_path, capsys, test_peer=PEER)
    assert "1 passed" in output, output
    assert "uses a fixture of cdpengine and is no coroutine function: write `async def`" in output
    assert "uses a fixture of cdpengine and has no runner: install pytest-trio" in output


def test_fixtures_of_the_project_replace_those_of_the_plugin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test = "import pytest\n\n@pytest.fixture\ndef page():\n    return 1\n\ndef test_it(page):\n    assert page == 1\n"
    assert "1 passed" in run(tmp_path, capsys, test_own=test)


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        (">=140", True), ("> 140", False), ("<141", True), ("==140.0", True), ("!=140", False),
        ("<=139", False), (">=140.0.7339.80", True), (">140.0.7339.80", False), ("<140.0.7400", True),
    ],
)  # fmt: skip
def test_conditions_compare_as_many_numbers_as_they_have(condition: str, met: bool) -> None:
    assert meets("140.0.7339.80", condition) is met


@pytest.mark.parametrize("condition", ["140", ">=a", "~=140", ">=1.2.3.4.5", 140])
def test_wrong_conditions_are_refused(condition: object) -> None:
    with pytest.raises(pytest.UsageError, match="expected an operator and a version"):
        meets("140.0.7339.80", condition)


def test_only_files_of_the_plugin_are_removed(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path / "results" / "test_it")
    for name in (TRAFFIC, "snapshot.txt", "page-2.screenshot.png", "notes.md"):
        artifacts.prepare(name).touch()
    artifacts.miss("console.txt", "the page crashed\nmore")
    folder = str(Path("results/test_it"))
    assert list(artifacts.describe(tmp_path)) == [
        f"{folder}: notes.md, page-2.screenshot.png, snapshot.txt, {TRAFFIC}",
        "console.txt is missing: the page crashed",
    ]
    artifacts.remove()
    assert [path.name for path in artifacts.folder.iterdir()] == ["notes.md"]
    (artifacts.folder / "notes.md").unlink()
    artifacts.remove()
    assert not artifacts.folder.exists()


def test_a_browser_that_accepts_no_connection_counts_as_ended() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"ws://127.0.0.1:{server.getsockname()[1]}/devtools/browser/x"
        browser = SharedBrowser(endpoint, threading.Thread(), lambda: None)
        assert browser.responds()
    assert not browser.responds()


class ExpectedError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "captured"),
    [
        (None, False),
        (ExpectedError(), True),
        (pytest.skip.Exception("later"), False),
        (ExceptionGroup("", [ExpectedError()]), True),
        (BaseExceptionGroup("", [pytest.skip.Exception("later")]), False),
        (pytest.fail.Exception("no"), True),
    ],
)
async def test_failures_are_captured_and_skips_are_not(
    tmp_path: Path, error: BaseException | None, captured: bool
) -> None:
    attempt = Attempt(Artifacts(tmp_path / "test"), "off", "off", tmp_path)

    async def test() -> None:
        await trio.lowlevel.checkpoint()
        if error is not None:
            raise error

    context = SimpleNamespace()
    calls: list[object] = []

    async def write_pages(_artifacts: Artifacts, given: object) -> None:
        await trio.lowlevel.checkpoint()
        calls.append(given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Artifacts, "write_pages", write_pages)
        raised: BaseException | None = None
        try:
            async with attempt.follow(cast("Any", context)):
                await attempt.watch(test)()
        except BaseException as found:  # noqa: BLE001 - skips are no Exceptions
            raised = found
    assert raised is error
    assert calls == ([context] if captured else [])
    assert attempt.over
