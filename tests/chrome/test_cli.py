"""The commands: their output and exit status. Anything specific to a separate program runs as one."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from command_line import BOUND, COMMAND, run_here
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.cli.demo import serve_shop

pytestmark = pytest.mark.chrome


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with serve_shop() as url:
        yield url


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


# --- demo ----------------------------------------------------------------------------------------------------


def test_demo_passes() -> None:
    done = run("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 of 10 steps succeeded." in done.stdout
    assert "EvaluationTimeoutError" in done.stdout
    assert '- button "Add to cart" [ref=' in done.stdout
    assert done.stderr == ""


def test_demo_fails_at_its_first_step_without_a_browser(tmp_path: Path) -> None:
    done = run("demo", "--browser", str(tmp_path / "nothing"))
    assert done.returncode == 1
    assert "0 of 1 steps" in done.stdout
    assert str(tmp_path / "nothing") in done.stdout.replace("\n", "")
    assert "Traceback" not in done.stdout + done.stderr


# --- doctor --------------------------------------------------------------------------------------------------


def test_the_doctor_answers_in_json() -> None:
    done = run_here("doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"] is True
    assert {finding["status"] for finding in answer["findings"]} <= {"ok", "warn"}
    assert all(finding["advice"] for finding in answer["findings"] if finding["status"] == "warn")


def test_doctor_gives_advice_for_file_that_is_not_a_browser(tmp_path: Path) -> None:
    fake = tmp_path / "chrome"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    done = run_here("doctor", "--json", "--browser", str(fake))
    assert done.returncode == 1
    failed = [finding for finding in json.loads(done.stdout)["findings"] if finding["status"] == "fail"]
    assert failed
    assert all(finding["advice"] for finding in failed)


# --- snapshot ------------------------------------------------------------------------------------------------


def test_a_snapshot_is_printed(shop: str) -> None:
    done = run_here("snapshot", shop)
    assert done.returncode == 0, done.stderr
    assert '- heading "Cups for slow mornings"' in done.stdout
    assert '- button "Add to cart" [ref=' in done.stdout


def test_a_snapshot_in_json_holds_text_and_refs(shared_endpoint: str, shop: str) -> None:
    done = run_here("snapshot", shop, "--json", "--details", "--endpoint", shared_endpoint)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    result, details = answer["result"], answer["result"]["details"]
    assert (answer["ok"], answer["url"]) == (True, shop)
    assert (result["title"], result["refs"]) == ("Kettle & Crane, a small shop", len(details["refs"]))
    buttons = {name: ref for name, ref in details["refs"].items() if ref["name"] == "Add to cart"}
    assert [ref["nth"] for ref in buttons.values()] == [0, 1, 2]
    assert all(f"[ref={name}]" in result["snapshot"] for name in buttons)
    assert details["stats"]


def test_the_accessibility_tree_in_json(shared_endpoint: str, shop: str) -> None:
    snapshot = ("snapshot", shop, "--endpoint", shared_endpoint)
    done = run_here(*snapshot, "--mode", "aria", "--ignored", "--frame", shop, "--json", "--details")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)["result"]["details"]
    assert (answer["stats"]["source"], answer["stats"]["frames"]) == ("ax", 1)
    assert [source["reason"] for source in answer["stats"]["sources"].values()] == ["asked for"]
    assert answer["nodes"]
    missing = run_here(*snapshot, "--frame", "nowhere", "--json")
    assert json.loads(missing.stdout)["error"]["kind"] == "nodeNotFound"
    assert missing.returncode == 1


# --- visible text and Markdown -------------------------------------------------------------------------------


@pytest.fixture
def cups(httpserver: HTTPServer) -> str:
    """A page with a frame of another site."""
    pages = {
        "/": "<title>Cups</title><nav><a href='/home'>Home</a></nav><main><h1>New</h1><p>A <a href='/cup'>cup</a></p>"
        f"<iframe src='http://127.0.0.1:{httpserver.port}/made'></iframe></main><footer>End</footer>",
        "/made": "<ul><li>glaze<li>clay</ul>",
    }
    for path, html in pages.items():
        httpserver.expect_request(path).respond_with_data(html, content_type="text/html")
    return f"http://localhost:{httpserver.port}/"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["text"], "Home\n\nNew\n\nA cup\n\n- glaze\n- clay\n\nEnd"),
        (
            ["markdown", "--main-only", "--json"],
            {"url": "URL", "kind": "extract", "result": "# New\n\nA [cup](URLcup)\n\n- glaze\n- clay"},
        ),
        (
            ["markdown", "--target", "main > p", "--max-chars", "1"],
            "[cut: this is the beginning of LENGTH characters; a larger limit or a single element shows more]",
        ),
    ],
    ids=["text", "markdown", "cut"],
)
def test_page_text_is_printed(
    shared_endpoint: str, cups: str, arguments: list[str], printed: str | dict[str, str]
) -> None:
    done = run_here(arguments[0], cups, "--endpoint", shared_endpoint, *arguments[1:])
    assert done.returncode == 0, done.stderr
    if isinstance(printed, dict):
        answer = json.loads(done.stdout)
        assert {key: answer[key] for key in printed} == {
            key: said.replace("URL", cups) for key, said in printed.items()
        }
    else:
        length = len(f"A [cup]({cups}cup)")
        assert done.stdout == printed.replace("LENGTH", str(length)) + "\n"


def test_a_ref_that_the_new_page_lacks_is_unknown(shared_endpoint: str, cups: str) -> None:
    done = run_here("text", cups, "--endpoint", shared_endpoint, "--target", "e99", "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "nodeNotFound"
    assert "e99" in error["message"]
    assert done.stderr.startswith(f"Error: {error['message']}\nHint: ")


# --- evaluate ------------------------------------------------------------------------------------------------


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("'text as it is'", "text as it is"),
        ("6 * 7", "42"),
        ("null", "null"),
        ("Promise.resolve(true)", "true"),
        ("-7 + 1", "-6"),
        ("({a: [1, 'two']})", '{"a": [1, "two"]}'),
    ],
)
def test_a_value_is_printed(shared_endpoint: str, expression: str, printed: str) -> None:
    done = run_here(
        "evaluate", "about:blank", "--endpoint", shared_endpoint, "--", expression
    )  # "--", because one of them begins with a dash
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed + "\n"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("expression", "value"),
    [("document.title", "Kettle & Crane, a small shop"), ("NaN", "NaN"), ("1 / -0", "-Infinity")],
)
def test_any_value_is_valid_json(shared_endpoint: str, shop: str, expression: str, value: str) -> None:
    done = run_here("evaluate", shop, expression, "--json", "--endpoint", shared_endpoint)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout, parse_constant=pytest.fail)["result"] == value


def test_hung_script_is_distinguished_from_thrown_error(shared_endpoint: str) -> None:
    evaluate = ("evaluate", "about:blank", "--endpoint", shared_endpoint, "--json", "--timeout-ms")
    hung = run_here(*evaluate, "300", "while (true) {}")
    threw = run_here(*evaluate, "20000", "null.x")
    assert (hung.returncode, threw.returncode) == (3, 1)
    timeout, failure = json.loads(hung.stdout)["error"], json.loads(threw.stdout)["error"]
    assert timeout["kind"] == "evaluationTimeout"
    assert re.search(r"within 0\.(3|2\d) s", timeout["message"])  # less what opening the page took
    assert "terminate: done" in timeout["message"]
    assert failure["kind"] == "evaluationFailed"
    assert "TypeError" in failure["message"]


def test_an_error_is_one_message_without_a_traceback(shared_endpoint: str) -> None:
    done = run_here(
        "evaluate", "about:blank", "throw new Error('no such cup')", "--endpoint", shared_endpoint
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert "no such cup" in done.stderr
    assert "Traceback" not in done.stderr


# --- in a running browser ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "status"), [("6 * 7", 0), pytest.param("null.x", 1, marks=pytest.mark.slow)]
)
async def test_running_browser_is_used_and_left_unchanged(
    tmp_path: Path, expression: str, status: int
) -> None:
    async with cdpengine.launch(user_data_dir=tmp_path, debugging_port=0) as browser:
        port = (tmp_path / "DevToolsActivePort").read_text().split()[0]
        before = {page.target_id for page in browser.pages}
        command = partial(
            run, "evaluate", "about:blank", expression, "--endpoint", f"http://127.0.0.1:{port}"
        )
        done = await trio.to_thread.run_sync(command)
        assert done.returncode == status, done.stderr
        reply = await browser.session.call("Target.getTargets")
        assert {target["targetId"] for target in reply["targetInfos"] if target["type"] == "page"} == before


# --- wrong use, and pages that do not load -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "nonsense"),
        (["text", "about:blank", "--nonsense"], "--nonsense"),
        (["snapshot", "example.com"], "https://example.com"),
        (["snapshot", "localhost:8000/x"], "http://localhost:8000/x"),
        (["snapshot", "http://"], "names no host"),
        (["snapshot", "about:blank", "--max-depth", "-1"], "--max-depth"),
        (["evaluate", "about:blank"], "SCRIPT"),
        (["evaluate", "about:blank", "1", "--timeout-ms", "-5"], "-5"),
        (["evaluate", "about:blank", "1", "--timeout-ms", "0"], "--timeout-ms"),
        (["evaluate", "about:blank", "1", "--timeout-ms", "soon"], "soon"),
        (
            ["evaluate", "about:blank", "1", "--browser", "chromium", "--endpoint", "http://127.0.0.1:1"],
            "--browser and --endpoint",
        ),
        (["evaluate", "about:blank", "1", "--endpoint", "ftp://127.0.0.1"], "ftp://127.0.0.1"),
        (["demo", "--nonsense"], "--nonsense"),
    ],
)
def test_wrong_use_is_refused_with_status_2(arguments: list[str], said: str) -> None:
    done = run_here(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_that_does_not_load_is_reported_with_chromes_reason(
    shared_endpoint: str, closed_port: int
) -> None:
    done = run_here("snapshot", f"http://127.0.0.1:{closed_port}/", "--json", "--endpoint", shared_endpoint)
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "navigationFailed"
    assert "net::ERR_CONNECTION_REFUSED" in error["message"]
    assert "net::ERR_CONNECTION_REFUSED" in done.stderr


def test_endpoint_without_listener_is_reported(closed_port: int) -> None:
    endpoint = f"http://127.0.0.1:{closed_port}"
    done = run_here("evaluate", "about:blank", "1", "--endpoint", endpoint, "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "connectFailed"
    assert endpoint in error["message"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows reports broken pipes differently")
def test_closed_output_pipe_is_no_error(shared_endpoint: str, shop: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, "snapshot", shop, "--endpoint", shared_endpoint],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=BOUND,
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode == 1
    assert done.stderr == ""


def test_an_element_is_passed_by_its_ref(shared_endpoint: str, shop: str) -> None:
    done = run_here(
        "evaluate",
        shop,
        "el => el.textContent.trim()",
        "--ref",
        "e1",
        "--json",
        "--endpoint",
        shared_endpoint,
    )
    assert done.returncode == 0, done.stderr
    assert "Kettle" in json.loads(done.stdout)["result"]
    wrong = run_here("evaluate", shop, "el => 1", "--ref", "e9999", "--endpoint", shared_endpoint)
    assert wrong.returncode == 1
    assert "e9999" in wrong.stderr


def test_a_running_browsers_page_needs_no_url(shared_endpoint: str) -> None:
    done = run_here("evaluate", "1 + 1", "--endpoint", shared_endpoint)
    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr
    snapshot = run_here("snapshot", "--endpoint", shared_endpoint)
    assert snapshot.returncode == 0, snapshot.stderr
