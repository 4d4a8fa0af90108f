"""The examples of the folder and of the documentation run, and print the documented output."""

from __future__ import annotations

import io
import os
import re
import runpy
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import trio
from doc_examples import Block, blocks, pages
from pytest_httpserver import HTTPServer

import cdpengine

pytestmark = pytest.mark.chrome

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def run_here(program: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Run a program in this process and capture its output. Other tests show that programs start and end."""
    monkeypatch.setattr(sys, "argv", [str(program), *arguments])
    monkeypatch.syspath_prepend(str(program.parent))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        runpy.run_path(str(program), run_name="__main__")
    assert err.getvalue() == ""
    return out.getvalue()


def test_read_and_act() -> None:
    before, after = run(EXAMPLES / "read_and_act.py").split("\n\n", 1)
    assert '- textbox "New entry" [ref=' in before
    assert "checkbox" not in before
    (ticked,) = (line for line in after.splitlines() if 'checkbox "water the plants"' in line)
    (other,) = (line for line in after.splitlines() if 'checkbox "call Ada"' in line)
    assert "[checked]" in ticked
    assert "[checked]" not in other


@pytest.mark.slow
def test_twenty_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run_here(EXAMPLES / "twenty_pages.py", monkeypatch).splitlines()
    for number, line in enumerate(lines[:-1], start=1):
        assert re.fullmatch(rf"http://\S+/{number}: Page {number}, {number} refs", line)
    assert lines[-1].startswith("20 pages in ")


def test_twenty_pages_continues_after_unreadable_page(monkeypatch: pytest.MonkeyPatch) -> None:
    output = run_here(EXAMPLES / "twenty_pages.py", monkeypatch, "about:blank", "http://127.0.0.1:1/")
    assert re.search(r"^about:blank: , 0 refs$", output, re.MULTILINE)
    assert re.search(r"^http://127.0.0.1:1/: NavigationFailedError: ", output, re.MULTILINE)


def test_watch_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    output = run_here(EXAMPLES / "watch_traffic.py", monkeypatch)
    assert re.search(r"^-> GET http://\S+/$", output, re.MULTILINE)
    assert re.search(r"^<- 200 Document http://\S+/inner$", output, re.MULTILINE)
    assert re.search(r"^<- 404 Fetch http://\S+/missing$", output, re.MULTILINE)


def test_agent_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    steps = re.split(r"^   -> .*$", run_here(EXAMPLES / "agent_loop.py", monkeypatch), flags=re.MULTILINE)
    task, seen, covered, wrong, accepted, named, counted, booked, pictured = steps
    assert "Book 2 tickets" in task
    assert re.search(r'button "Book" \[ref=e\d+\]', seen)
    assert "cannot click e" in covered
    assert "Close or move the covering element first" in covered
    assert "no tool 'clik'; did you mean the tool click?" in wrong
    assert '- dialog "Cookies"' in accepted
    assert 'value="Ada"' in named
    assert 'value="2"' in counted
    assert 'status: "Booked: 2 for Ada, order 4711"' in booked
    assert pictured == "\nthe screenshot\n(a picture)\nThe answer: The order has the number 4711.\n"


def recorded_tests() -> list[tuple[str, str]]:
    """Return the names and contents of the recorded tests' files in the documentation."""
    files = [block.source for page in pages() for block in blocks(page) if block.language in ("py", "ini")]
    return [(source.partition("\n")[0].removeprefix("# "), source) for source in files]


def test_the_recorded_tests_of_the_documentation_are_whole() -> None:
    assert [name for name, _source in recorded_tests()] == ["pytest.ini", "conftest.py", "test_site.py"]
    for name, source in recorded_tests():
        if name.endswith(".py"):
            compile(source, name, "exec")


@pytest.mark.slow
def test_the_recorded_tests_of_the_documentation_run_in_a_fresh_folder(
    tmp_path: Path, httpserver: HTTPServer
) -> None:
    """The tests run as printed, except for the site's address: recorded first, then replayed without a browser."""
    page = "<title>Example Domain</title><h1>Example Domain</h1>"
    httpserver.expect_request("/").respond_with_data(page, content_type="text/html")
    for name, source in recorded_tests():
        (tmp_path / name).write_text(source.replace("https://example.com", httpserver.url_for("/")))
    for record in ("1", "0"):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider"],
            cwd=tmp_path,
            env=os.environ | {"CDPENGINE_TEST_RECORD": record},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "2 passed" in done.stdout, done.stdout + done.stderr
        assert done.returncode == 0
        httpserver.clear()  # a replay sends it no request
    assert sorted(path.name for path in (tmp_path / "cassettes").iterdir()) == [
        "test_site.test_the_heading.jsonl.zst",
        "test_site.test_the_title.jsonl.zst",
    ]


EXAMPLES_OF_PAGES = [block for page in pages() for block in blocks(page) if block.language == "python"]
SITE = "<title>Example Domain</title><h1>Example Domain</h1><a href='/more'>More</a>"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "block", [block for block in EXAMPLES_OF_PAGES if block.is_program], ids=lambda block: block.name
)
def test_a_program_of_the_documentation_runs(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(block.source)
    assert run_here(program, monkeypatch)


def test_the_readme_shows_the_output_of_its_first_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, output = re.findall(
        r"^```(?:python|text)\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )[:2]
    (tmp_path / "program.py").write_text(program)
    assert run_here(tmp_path / "program.py", monkeypatch) == output


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "block", [block for block in EXAMPLES_OF_PAGES if not block.is_program], ids=lambda block: block.name
)
async def test_an_example_of_the_documentation_runs(
    block: Block, browser: cdpengine.Browser, tmp_path: Path
) -> None:
    """Runs with the names from docs/index.md and prints the documented output. https://example.com is on
    loopback.
    """

    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(body=SITE, content_type="text/html")

    before = {page.target_id for page in browser.pages}
    with trio.fail_after(30):
        async with browser.new_context() as context, context.route("https://example.com/*", answer):
            names = {"browser": browser, "page": await context.new_page(), "folder": tmp_path}
            printed = await block.run({"cdpengine": cdpengine, "trio": trio, **names})
        assert printed == block.promised()
        for page in browser.pages:
            if page.target_id not in before and not page.closed:
                await page.close()
