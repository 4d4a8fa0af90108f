"""Action scripts in a real browser, with a test for each known weakness of such languages."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from act_cases import serve_pages
from command_line import run_here
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine.act import Actor, dispatch, run_action, run_reply, run_script
from cdpengine.errors import ActionSyntaxError

pytestmark = pytest.mark.chrome


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    return serve_pages(httpserver)


@pytest.fixture
async def actor(browser: cdpengine.Browser, site: str) -> AsyncIterator[Actor]:
    async with browser.new_context() as context:
        actor = Actor(browser, context)
        assert (await dispatch(actor, {"kind": "newTab", "url": f"{site}/stage"})).ok
        yield actor


async def read(actor: Actor, mode: str) -> dict[str, int]:
    """Return the snapshot's numbers by the rest of their lines, such as `button "Go"`."""
    answer = await dispatch(actor, {"kind": "snapshot", "mode": mode})
    numbers = {}
    for line in answer.result["snapshot"].splitlines():
        number, _, rest = line.strip().removeprefix("[").partition("] ")
        if number.isdecimal():
            numbers[rest.replace("'", '"')] = int(number)
    return numbers


def current(actor: Actor) -> cdpengine.Page:
    page = actor.current
    assert page is not None
    return page


@pytest.mark.parametrize("mode", ["numbered", "webarena"])
async def test_ids_equal_those_of_snapshots_for_models(actor: Actor, mode: str) -> None:
    numbers = await read(actor, mode)
    go = next(number for words, number in numbers.items() if words.startswith('button "Go"'))
    name = next(number for words, number in numbers.items() if words.startswith('textbox "Name"'))
    for action in (
        f"click [{go}]",
        f"hover [{go}]",
        f"type [{name}] [a [b]] [0]",
        "press [Meta+a]",
        "press [x]",
    ):
        step = await run_action(actor, action)
        assert step.response is not None
        assert step.response.ok, step
    page = current(actor)
    assert "click go" in await page.evaluate("record")
    assert await page.evaluate("document.getElementById('name').value") == "x"


async def test_a_whole_script_with_tabs_and_an_answer(actor: Actor, site: str) -> None:
    run = await run_script(
        actor,
        f"# there and back\nscroll [down]\ngoto [{site}/second]\ngo_back\ngo_forward\nnew_tab\n"
        f"goto [{site}/stage]\ntab_focus [0]\nclose_tab\nNone\nstop [it [is] done]\nclick [999]\n",
    )
    assert run.ok, run
    assert run.answer == "it [is] done"
    assert [step.url and step.url.rpartition("/")[2] for step in run.steps] == [
        "stage", "second", "stage", "second", "about:blank", "stage", "second", "stage",
    ]  # fmt: skip


# --- known weaknesses, one by one ------------------------------------------------------------------------------


async def test_parsing_is_not_brittle(actor: Actor) -> None:
    """Blanks, brackets in strings, a missing flag. See also tests/unit/test_script_language.py."""
    name = (await read(actor, "numbered"))['textbox "Name"']
    for text in ("[", "]", "a [1] b", " [0] "):
        step = await run_action(actor, f" type[{name}]  [{text}]  [0] ")
        assert step.response is not None
        assert step.response.ok
        assert await current(actor).evaluate("document.getElementById('name').value") == text
        await current(actor).fill(f"e{name}", "")
    with pytest.raises(ActionSyntaxError, match="line 1, column 7"):
        await run_action(actor, "click 12")


async def test_each_step_returns_the_current_page(actor: Actor) -> None:
    """A step returns the current page, so the caller never acts on another page than it expects."""
    before = current(actor).target_id
    opened = await run_action(actor, "new_tab")
    assert opened.target_id not in (None, before)
    back = await run_action(actor, "tab_focus [0]")
    assert back.target_id == before
    closed = await run_action(actor, "close_tab")
    assert closed.target_id == opened.target_id
    last = await run_action(actor, "close_tab")
    assert last.target_id is None
    none = await run_action(actor, "click [1]")
    assert none.response is not None
    assert none.response.error is not None
    assert "newTab" in none.response.error.message


async def test_each_failure_has_a_distinct_kind(actor: Actor) -> None:
    go = (await read(actor, "numbered"))['button "Go"']
    await current(actor).evaluate("document.getElementById('go').remove()")
    for action, kind in (
        (f"click [{go}]", "staleRef"),
        ("click [9999]", "nodeNotFound"),
        ("press [Nokey]", "invalidArgument"),
        ("goto [http://127.0.0.1:1/]", "navigationFailed"),
        ("tab_focus [7]", "invalidArgument"),
    ):
        step = await run_action(actor, action)
        assert step.response is not None
        assert step.response.error is not None
        assert step.response.error.kind == kind, action


async def test_element_that_moves_before_the_click_is_hit(actor: Actor) -> None:
    """Scrolling changes the page: a header grows as soon as it scrolls, so earlier measurements are wrong."""
    page = current(actor)
    below = next(number for words, number in (await read(actor, "numbered")).items() if '"Below"' in words)
    await page.evaluate(
        "addEventListener('scroll', () => { document.body.style.paddingTop = '180px'; }, {once: true}); 0"
    )
    step = await run_action(actor, f"click [{below}]")
    assert step.response is not None
    assert step.response.ok, step
    assert (await page.evaluate("record"))[-1] == "click below"


async def test_clickable_generic_has_a_number_in_both_modes(actor: Actor) -> None:
    """In both modes, an unnamed generic that listens for clicks has a number."""
    page = current(actor)
    await page.evaluate(
        "document.body.insertAdjacentHTML('afterbegin', '<div id=bare style=\"width:20px;height:20px;cursor:pointer\" "
        'onclick="record.push(`bare`)"></div><li id=item onclick="record.push(`item`)">x</li>\')'
    )
    for mode in ("numbered", "webarena"):
        for number in (await read(actor, mode)).values():
            if await page.evaluate("(e) => e.id === 'bare'", target=f"e{number}"):
                await run_action(actor, f"click [{number}]")
    assert (await page.evaluate("record")).count("bare") == 2


async def test_sessions_end_with_their_pages(actor: Actor, browser: cdpengine.Browser) -> None:
    async def sessions() -> int:
        targets = await browser.session.call("Target.getTargets")
        return sum(each["attached"] for each in targets["targetInfos"])

    before = await sessions()
    for _ in range(5):
        assert (await run_script(actor, "new_tab\ngoto [about:blank]\nclose_tab")).ok
    with trio.fail_after(5):
        while await sessions() > before:  # noqa: ASYNC110 - Chrome reports it later
            await trio.sleep(0.01)


async def test_replies_of_models_are_read_generously(actor: Actor) -> None:
    go = next(
        number for words, number in (await read(actor, "numbered")).items() if words.startswith('button "Go"')
    )
    for reply in (
        f"I click it: ```click [{go}]```",
        f"```text\nclick [{go}]\n```",
        f"Thought: it is the first.\nAction: click [{go}]",
        f"<action>click [{go}]</action>",
    ):
        step = await run_reply(actor, reply)
        assert step.response is not None
        assert step.response.ok
    assert (await current(actor).evaluate("record")).count("click go") == 4
    with pytest.raises(ActionSyntaxError, match="without an action"):
        await run_reply(actor, "I do not know.")


async def test_script_stops_at_first_failure_and_names_the_step(actor: Actor) -> None:
    run = await run_script(actor, "scroll down\n\nclick [9999]\nscroll up")
    assert run.error is not None
    assert run.error.kind == "nodeNotFound"
    assert [step.line for step in run.steps] == [1, 3]
    wrong = await run_script(actor, "scroll down\nclik [1]")
    assert wrong.error is not None
    assert wrong.error.kind == "actionSyntax"
    assert wrong.steps == (), "a script with a syntax error runs no step"


async def test_a_cancelled_script_leaves_nothing(actor: Actor) -> None:
    with trio.move_on_after(0.1):
        await run_script(actor, "\n".join(["scroll down", "scroll up"] * 200))
    assert (await run_action(actor, "scroll down")).response is not None


# --- the command ---------------------------------------------------------------------------------------------


def test_command_runs_a_script(tmp_path: Path, shared_endpoint: str, site: str) -> None:
    script = tmp_path / "steps.txt"
    script.write_text("# type a name\ntype [7] [hunter2] [0]\nclick [1]\nstop [all [done]]\n")
    url = f"{site}/stage"
    done = run_here("run", "--endpoint", shared_endpoint, "--url", url, "--snapshot", str(script))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "all [done]"
    assert '[1] button "Go"' in done.stdout
    assert done.stderr.splitlines() == [f"2: type [7] ...  {url}", f"3: click [1]  {url}"]


def test_command_prints_the_results_of_steps_that_read(
    tmp_path: Path, shared_endpoint: str, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/form").respond_with_data(
        "<title>Shop</title><label>Name <input id=name></label><button>Go</button>", content_type="text/html"
    )
    script = tmp_path / "steps.txt"
    script.write_text(
        "fill [label=Name] [hunter2]\nget [title]\nis [visible] [text=Go]\nwait [text=Go]\nreload\n"
    )
    url = httpserver.url_for("/form")
    done = run_here("run", "--endpoint", shared_endpoint, "--url", url, str(script))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["Shop", "true"]
    assert "hunter2" not in done.stderr
    assert done.stderr.splitlines()[0] == f"1: fill [label=Name] ...  {url}"


LATE = """<link rel=icon href="data:,"><script>confirm("first"); setTimeout(() => confirm("late"), 300)</script>
<button onclick="document.title = confirm('click')">Go</button>"""


def answer_late(_request: Request) -> Response:
    time.sleep(0.6)
    return Response("")


def test_the_command_reports_all_dialogs(
    tmp_path: Path, shared_endpoint: str, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/late").respond_with_data(LATE, content_type="text/html")
    # The last step's response comes after the late dialog.
    httpserver.expect_request("/other").respond_with_handler(answer_late)
    script = tmp_path / "steps.txt"
    script.write_text(f"click [1]\nnew_tab\ngoto [{httpserver.url_for('/other')}]\n")
    arguments = ("run", "--endpoint", shared_endpoint, "--url", httpserver.url_for("/late"), str(script))
    for more in ([], ["--snapshot"]):
        done = run_here(*arguments, *more)
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stderr.splitlines() if "a confirm opened" in line]
        assert [line.split("'")[1] for line in lines if "late" not in line] == ["first", "click"]
        assert sum("('late')" in line for line in lines) == 1
    document = json.loads(run_here(*arguments, "--json").stdout)
    responses = [
        document.get("opened"),
        *(step["response"] for step in document["steps"]),
        document.get("after"),
    ]
    shown = [each["message"] for to in responses if to for each in to.get("effects", {}).get("dialogs", [])]
    assert sorted(shown) == ["click", "first", "late"]


def test_command_names_the_failing_step(tmp_path: Path, shared_endpoint: str, site: str) -> None:
    script = tmp_path / "steps.txt"
    script.write_text("scroll down\nclick [999]\nscroll up\n")
    arguments = ("run", "--endpoint", shared_endpoint, "--url", f"{site}/stage", str(script))
    plain = run_here(*arguments)
    assert plain.returncode == 1
    assert "Error: line 2: click [999]: e999: this page never gave that ref" in plain.stderr
    done = run_here(*arguments, "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert [step["line"] for step in document["steps"]] == [1, 2]
    assert document["error"]["kind"] == "nodeNotFound"
    assert document["ok"] is False


@pytest.mark.parametrize("as_json", [False, True])
def test_command_refuses_invalid_script(tmp_path: Path, as_json: bool) -> None:
    script = tmp_path / "steps.txt"
    script.write_text("scroll down\nclik [1]\n")
    done = run_here("run", str(script), *(["--json"] if as_json else []))
    assert done.returncode == 2
    assert "line 2, column 1: got 'clik', expected click" in done.stderr
    if as_json:
        assert json.loads(done.stdout)["error"]["type"] == "ActionSyntaxError"
