"""The plugin of pytest with a browser: the starter project, its planted faults, and other runners."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
import trio
from planted_faults import CHOSEN, FAULTS
from trace_text import text_of

import cdpengine
from cdpengine import expect
from cdpengine.debug.steps.reading import open_step_trace
from cdpengine.debug.steps.view import page_of

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "examples" / "pytest_project"
PLUGIN = "cdpengine.testing.pytest_plugin"


def run(
    folder: Path, *arguments: str, anyio: bool = False, environment: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Run the tests of a folder in a new process, and return the output."""
    blocked = ["cacheprovider", "hypothesispytest", "schemathesis", "trio" if anyio else "anyio"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", PLUGIN, *(f"-pno:{name}" for name in blocked), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'support'}"} | dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the starter project."""
    return Path(shutil.copytree(PROJECT, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__")))


def test_the_starter_project_passes_and_leaves_no_artifacts(project: Path) -> None:
    output = run(project, "-W", "error")
    assert "5 passed" in output, output
    assert not (project / "test-results").exists() or not list((project / "test-results").iterdir())


def check_faults(project: Path, names: list[str]) -> None:
    """Plant faults, and check that the trace and the other artifacts of the failed tests contain the causes."""
    output = run(project, "-p", "planted_faults", "--tb=short", environment={CHOSEN: ",".join(names)})
    assert f"{len(names)} failed" in output, output
    assert " passed" not in output, output
    for name in names:
        fault = FAULTS[name]
        (folder,) = (project / "test-results").glob(f"*.{fault.test}-{name}")
        named = rf"^test-results/{re.escape(folder.name)}: .*requests\.har.*trace\.zip, traffic\.jsonl"
        assert re.search(named, output, re.MULTILINE), output
        assert (folder / "screenshot.png").read_bytes().startswith(b"\x89PNG")
        traced = text_of(folder / "trace.zip")
        assert re.search(fault.traced, traced), f"{name}: {traced[-5000:]}"
        for file, cause in fault.causes.items():
            content = (folder / file).read_text("utf-8")
            assert re.search(cause, content, re.MULTILINE), f"{name}: {file}\n{content[-3000:]}"


def test_the_artifacts_name_the_cause_of_a_fault(project: Path) -> None:
    check_faults(project, ["wrong-text", "server-error"])


@pytest.mark.slow
def test_the_artifacts_name_the_causes_of_all_faults(project: Path) -> None:
    assert len(FAULTS) >= 10
    check_faults(project, list(FAULTS))


def test_reports_show_the_lines_of_the_test(project: Path) -> None:
    """The engine's frames are of no use to the reader, because its errors describe themselves."""
    (project / "test_errors.py").write_text(
        "async def test_ambiguous(page):\n"
        "    await page.set_content('<button>A</button><button>B</button>')\n"
        "    await page.click(page.locate(role='button'))\n\n"
        "async def test_assertion(page):\n"
        "    import cdpengine\n"
        "    await cdpengine.expect(page.locate('#no')).to_be_visible(timeout=0.2)\n"
    )
    shown = run(project, "test_errors.py", "--tb=short")
    assert "2 failed" in shown
    assert "page.click(page.locate(role='button'))" in shown
    assert "AmbiguousNodeError" in shown
    assert "cdpengine/_" not in shown
    assert "contextlib.py" not in shown
    assert "cdpengine/_" in run(project, "test_errors.py", "--tb=short", "--full-trace")


async def test_the_viewer_shows_the_failed_assertion_with_its_page_and_its_requests(
    project: Path, page: cdpengine.Page
) -> None:
    await trio.to_thread.run_sync(check_faults, project, ["slow"])
    (trace,) = (project / "test-results").glob("*/trace.zip")
    viewer = trace.with_suffix(".html")
    viewer.write_bytes(b"".join(page_of(open_step_trace(trace))))
    await page.goto(f"{viewer.as_uri()}#action=6")
    await expect(page.locate("#panel .failure")).to_contain_text("Apples: 3 euros Order")
    await page.goto(f"{viewer.as_uri()}#action=6&tab=network")
    await expect(page.locate("#panel table")).to_contain_text("GET /api/items…")
    await page.goto(f"{viewer.as_uri()}#action=7&tab=given")
    await expect(page.locate("#panel")).to_contain_text("Loading the items")


@pytest.mark.slow
def test_no_trace_of_a_test_that_passes_names_the_cause_of_a_fault(project: Path) -> None:
    output = run(project, "--tracing=on")
    assert "5 passed" in output, output
    for name, fault in FAULTS.items():
        (folder,) = (project / "test-results").glob(f"*.{fault.test}")
        assert not re.search(fault.traced, text_of(folder / "trace.zip")), name


MIXED = """
import pytest

PAGE = "data:text/html,<title>Shop</title><button>Pay</button>"
attempts = 0

@pytest.mark.flaky(reruns=1)
async def test_flaky(page):
    global attempts
    attempts += 1
    await page.goto(PAGE)
    assert attempts == 2

@pytest.mark.browser_version("<100", reason="old")
async def test_old(page):
    pass

async def test_leaves_a_page(browser):
    await browser.new_page(PAGE)
    assert len(browser.pages) == 2

async def test_finds_no_page(browser):
    assert len(browser.pages) == 1

@pytest.fixture
async def broken(page):
    await page.goto(PAGE)
    raise ValueError

async def test_broken_fixture(broken):
    pass

async def test_skips(page):
    pytest.skip("later")

async def test_kills_the_browser(browser):
    from cdpengine.errors import ConnectionLostError
    with pytest.raises(ConnectionLostError):
        while True:
            await browser.session.call("Browser.crash")

async def test_gets_another_browser(page):
    await page.goto(PAGE)
"""


def test_reruns_workers_versions_and_failing_fixtures(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_mixed.py").write_text(MIXED)
    output = run(tmp_path, "-n1", "-rs", "--tb=short")
    assert "1 failed, 5 passed, 2 skipped, 1 rerun" in output, output
    assert re.search(r"SKIPPED.* the browser has version \d+\S+, needed is <100: old", output)
    assert "E   ValueError" in output
    assert "Exception Group" not in output
    results = sorted(path.name for path in (tmp_path / "test-results").iterdir())
    assert results == ["test_mixed.test_broken_fixture", "test_mixed.test_flaky"]
    failed = tmp_path / "test-results" / "test_mixed.test_broken_fixture"
    assert 'button "Pay"' in (failed / "snapshot.txt").read_text()


FULL = """
import pytest
from cdpengine.debug.steps.step_file import StepFile

@pytest.fixture(autouse=True)
def full_disk(monkeypatch):
    finish = StepFile.finish

    def fail(file):
        finish(file)
        file._failure = "No space left on device"

    monkeypatch.setattr(StepFile, "finish", fail)

async def test_passes(page):
    await page.goto("data:text/html,<title>Shop</title>")

async def test_fails(page):
    await page.goto("data:text/html,<title>Shop</title>")
    assert await page.title() == "Market"
"""


def test_a_trace_that_is_not_completed_is_named_and_fails_no_test(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_full.py").write_text(FULL)
    output = run(tmp_path, "--tb=short")
    assert "1 failed, 1 passed" in output, output
    assert re.search(r"trace\.zip is missing: .*No space left on device", output), output


ANYIO = """
import pytest

pytestmark = pytest.mark.anyio

@pytest.fixture(params=["trio", "asyncio"])
def anyio_backend(request):
    return request.param

@pytest.fixture
async def at_page(page):
    await page.goto("data:text/html,<title>Shop</title><button>Pay</button>")
    return page

async def test_passes(at_page):
    assert await at_page.title() == "Shop"

async def test_fails(at_page):
    assert await at_page.title() == "Market"
"""


def test_runs_on_trio_with_the_plugin_of_anyio(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_anyio.py").write_text(ANYIO)
    output = run(tmp_path, "--tb=short", "--tracing=on", "--screenshot=off", anyio=True)
    assert "1 failed, 1 passed, 2 errors" in output, output
    assert "define a fixture anyio_backend that returns 'trio'" in output
    results = {
        folder.name: sorted(path.name for path in folder.iterdir())
        for folder in (tmp_path / "test-results").iterdir()
    }
    assert results == {
        "test_anyio.test_passes-trio": ["trace.zip", "traffic.jsonl"],
        "test_anyio.test_fails-trio": [
            "console.txt",
            "requests.har",
            "snapshot.txt",
            "trace.zip",
            "traffic.jsonl",
        ],
    }
