"""Renamed elements in every way in and each kind of tree: a refused action reaches nothing, by the page's
log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
from cache_executions import entry_of, execute, step, targets_of
from pytest_httpserver import HTTPServer
from ways_in import WAYS, Way, open_way
from werkzeug import Request, Response

import cdpengine
from cdpengine._snapshot.ref import unseen, without_counter
from cdpengine.act import Actor, Click, dispatch, run_action

pytestmark = pytest.mark.chrome

BUTTON = """
const make = (root, place) => {
  const button = document.createElement("button");
  button.textContent = `${place} Delete mail 2`;
  const log = (words) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/log", false);
    request.send(words);
  };
  button.onclick = () => log(button.textContent);
  root.append(button);
  addEventListener("message", () => {
    button.textContent = `${place} Delete mail 52`;
    log("renamed");
  });
};
"""
TOP = f"""<link rel=icon href="data:,"><button id=rename>Rename</button> <div id=open></div> <div id=closed></div>
<iframe src="/same"></iframe> <iframe src="OTHER/cross"></iframe>
<script>{BUTTON}
make(document.body, "top");
make(document.querySelector("#open").attachShadow({{ mode: "open" }}), "open");
make(document.querySelector("#closed").attachShadow({{ mode: "closed" }}), "closed");
rename.onclick = () => {{
  for (const each of [window, ...Array.from({{ length: frames.length }}, (_, at) => frames[at])]) each.postMessage("", "*");
}};
</script>"""
PLACES = ("top", "open", "closed", "same", "cross")


@pytest.fixture
def pressed(httpserver: HTTPServer) -> list[str]:
    """Serve the page. Return the log of its buttons: the renamings, and the names of the pressed ones."""
    found: list[str] = []

    def log(request: Request) -> Response:
        found.append(request.data.decode())
        return Response("")

    httpserver.clear()
    pages = {"/": TOP.replace("OTHER", f"http://localhost:{httpserver.port}")}
    pages |= {
        f"/{each}": f"<script>{BUTTON} addEventListener('load', () => make(document.body, '{each}'))</script>"
        for each in ("same", "cross")
    }
    for path, html in pages.items():
        httpserver.expect_request(path).respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/log").respond_with_handler(log)
    return found


async def refs_of(way: Way, name: str) -> dict[str, str]:
    """Return the buttons' refs by position, from a find request."""
    refs = {}
    for place in PLACES:
        found = await way.ask({"kind": "find", "role": "button", "name": f"{place} {name}"})
        refs[place] = found["result"]["nodes"][0]["ref"]
    return refs


async def wait_for_renaming(logged: list[str]) -> None:
    """Wait until all buttons are renamed, also in other processes, and clear the log of the renamings."""
    with trio.fail_after(10):
        while logged.count("renamed") < len(PLACES):  # noqa: ASYNC110 - the server logs in another thread
            await trio.sleep(0.01)
    logged[:] = [each for each in logged if each != "renamed"]


@pytest.mark.parametrize("name", WAYS)
async def test_renamed_element_is_refused_until_next_look(
    name: str, pressed: list[str], httpserver: HTTPServer, shared_endpoint: str
) -> None:
    async with open_way(name, shared_endpoint) as way:
        assert (await way.ask({"kind": "newTab", "url": httpserver.url_for("/")}))["ok"]
        for place in PLACES:
            text = f"{place} Delete mail 2"
            if place in ("top", "open"):
                assert (await way.ask({"kind": "wait", "text": text}))["ok"]
        refs = await refs_of(way, "Delete mail 2")
        assert (await way.ask({"kind": "click", "selector": "#rename", "diff": False}))["ok"]
        await wait_for_renaming(pressed)
        for place in PLACES:
            refused = await way.ask({"kind": "click", "ref": refs[place], "diff": False})
            assert refused.get("error", {}).get("kind") == "staleRef", (place, refused)
            assert f"{place} Delete mail 52" in refused["error"]["message"]
            assert "selector" in refused["error"]["hint"]
        assert pressed == []
        # After a new look, the ref means the element with its new name.
        assert await refs_of(way, "Delete mail 52") == refs
        for place in PLACES:
            done = await way.ask({"kind": "click", "ref": refs[place], "diff": False})
            assert done["ok"], (place, done)
        assert pressed == [f"{place} Delete mail 52" for place in PLACES]


async def test_script_actions_refuse_renamed_element(
    browser: cdpengine.Browser, pressed: list[str], httpserver: HTTPServer
) -> None:
    async with browser.new_context() as context:
        actor = Actor(browser, context)
        assert (await dispatch(actor, {"kind": "newTab", "url": httpserver.url_for("/")})).ok
        found = await dispatch(actor, {"kind": "find", "name": "top Delete mail 2"})
        assert (await dispatch(actor, {"kind": "click", "selector": "#rename"})).ok
        await wait_for_renaming(pressed)
        action = f"click [{found.result['nodes'][0]['ref'][1:]}]"
        refused = (await run_action(actor, action)).response
        assert refused is not None
        assert refused.error is not None
        assert refused.error.kind == "staleRef"
        assert pressed == []


CHANGING = """<button id=pay onclick="did.push(this.textContent)">Pay (3:41)</button>
<button id=resend onclick="did.push(this.textContent)">Resend in 30 s</button>
<button id=price onclick="did.push(this.textContent)">Pay 900 EUR</button><script>did = []</script>"""


async def test_a_countdown_can_be_pressed_and_a_price_cannot(page: cdpengine.Page) -> None:
    await page.set_content(CHANGING)
    snapshot = await page.snapshot()
    await page.evaluate(
        "pay.textContent = 'Pay (3:29)'; resend.textContent = 'Resend in 9 s'; price.textContent = 'Pay 950 EUR'"
    )
    for name in ("Pay (3:41)", "Resend in 30 s"):
        await page.click(snapshot.find(name=name), refuse_renamed=True)
    with pytest.raises(cdpengine.errors.StaleRefError):
        await page.click(snapshot.find(name="Pay 900 EUR"), refuse_renamed=True)
    assert await page.evaluate("did") == ["Pay (3:29)", "Resend in 9 s"]
    # A selector names the element whatever its name becomes.
    actor = Actor(page.browser)
    actor.focus(page)
    assert (await dispatch(actor, {"kind": "click", "selector": "#price"})).ok
    assert await page.evaluate("did.at(-1)") == "Pay 950 EUR"


REDRAWN = """<link rel=icon href="data:,"><div id=root></div><button id=again onclick="draw()">Again</button><script>
let left = 41;
did = [];
function draw() {
  const button = document.createElement("button");
  button.textContent = `Pay (3:${left--})`;
  button.onclick = () => did.push(button.textContent);
  root.replaceChildren(button);
}
draw();
</script>"""


@pytest.mark.parametrize("name", WAYS)
async def test_countdown_drawn_as_new_element_is_reported_and_followed(
    name: str, httpserver: HTTPServer, shared_endpoint: str
) -> None:
    httpserver.expect_request("/redrawn").respond_with_data(REDRAWN, content_type="text/html")
    async with open_way(name, shared_endpoint) as way:
        assert (await way.ask({"kind": "newTab", "url": httpserver.url_for("/redrawn")}))["ok"]
        found = await way.ask({"kind": "find", "role": "button", "name": "Pay (3:41)"})
        ref = found["result"]["nodes"][0]["ref"]
        assert (await way.ask({"kind": "click", "selector": "#again", "diff": False}))["ok"]
        refused = (await way.ask({"kind": "click", "ref": ref, "diff": False}))["error"]
        assert refused["kind"] == "staleRef"
        (named,) = refused["alternatives"]
        assert f'{named} button "Pay (3:40)"' in refused["message"]
        assert (await way.ask({"kind": "click", "ref": named, "diff": False}))["ok"]
        assert (await way.ask({"kind": "click", "selector": "#again", "diff": False}))["ok"]
        healed = await way.ask({"kind": "click", "ref": ref, "heal": True, "diff": False})
        assert healed["effects"]["healedRef"] not in (ref, named)
        did = await way.ask({"kind": "evaluate", "function": "did.join()"})
        assert did["result"] == "Pay (3:40),Pay (3:39)"


def test_names_that_are_counters() -> None:
    same: list[tuple[str, str]] = [
        ("Pay (3:41)", "Pay (3:39)"), ("(2) Inbox", "(13) Inbox"), ("Load [50 %]", "Load [75%]"),
        ("Resend in 30 s", "Resend in 1 second"), ("Wait 0:10", "Wait 0:09"), ("Skip (5 s)", "Skip (4 s)"),
    ]  # fmt: skip
    other: list[tuple[str, str]] = [
        ("Mail 2", "Mail 52"), ("Pay 9 EUR", "Pay 8 EUR"), ("Pay (9 EUR)", "Pay (8 EUR)"), ("Take 10 % off", "Take 50 % off"),
    ]  # fmt: skip
    assert [
        pair for pair in same if without_counter(pair[0]).strip() != without_counter(pair[1]).strip()
    ] == []
    assert [pair for pair in other if without_counter(pair[0]) == without_counter(pair[1])] == []


async def test_names_seen_by_a_replay_do_not_count_as_returned(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    url = serve("""<button id=mail onclick="did.push(this.textContent)">Delete mail 2</button>
<h1>Orders</h1><form aria-label="Orders"><button type=button id=other onclick="did.push('other')">Other</button></form><script>did = []</script>""")
    await page.goto(url)
    targets: dict[str, Any] = await targets_of(page, t1="button Other")
    entry = entry_of(url, step(Click(ref="t1"), targets))
    ref = (await page.snapshot()).find(name="Delete mail 2")
    await page.evaluate("mail.textContent = 'Delete mail 52'")
    report = await execute(page, entry)
    assert report.ok, report.to_table()
    await page.evaluate("other.remove()")
    failed = await execute(page, entry)
    assert failed.diff is not None, "the report needed a look at it"
    with pytest.raises(cdpengine.errors.StaleRefError):
        await page.click(ref.id, refuse_renamed=True)
    assert await page.evaluate("did") == ["other"]


async def test_names_returned_to_another_task_count_during_engine_looks(page: cdpengine.Page) -> None:
    await page.set_content(
        "<button id=mail>Delete mail 2</button><button id=other>Archive mail 2</button><script>did = [];"
        "addEventListener('click', (event) => did.push(event.target.textContent))</script>"
    )
    snapshot = await page.snapshot()
    mail, other = snapshot.find(name="Delete mail 2").id, snapshot.find(name="Archive mail 2").id
    looked, seen = trio.Event(), trio.Event()

    async def look_for_the_engine() -> None:
        with unseen():
            await page.evaluate("other.textContent = 'Archive mail 52'")
            async with trio.open_nursery() as inner:
                inner.start_soon(page.snapshot)
            assert (await page.click(other, refuse_renamed=True)).renamed is None, "the engine has seen it"
            looked.set()
            await seen.wait()
            await page.snapshot()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look_for_the_engine)
        await looked.wait()
        await page.evaluate("mail.textContent = 'Delete mail 52'")
        (await page.snapshot(root=mail)).find(name="Delete mail 52")
        seen.set()
    assert (await page.click(mail, refuse_renamed=True)).renamed is None
    with pytest.raises(cdpengine.errors.StaleRefError, match="Archive mail 52"):
        await page.click(other, refuse_renamed=True)
    assert await page.evaluate("did") == ["Archive mail 52", "Delete mail 52"]


async def test_labelled_picture_counts_as_returned(page: cdpengine.Page) -> None:
    await page.set_content("<button onclick='document.title = this.textContent'>Delete mail 2</button>")
    ref = (await page.snapshot()).find(role="button").id
    await page.evaluate("document.querySelector('button').textContent = 'Delete mail 52'")
    await page.pictures.labelled_screenshot()
    assert (await page.click(ref, refuse_renamed=True)).renamed is None
    assert await page.title() == "Delete mail 52"


ONE_ITEM = """<button id=item onclick="picked.push(this.textContent)">item 0 of mails</button>
<script>const picked = []; const rename = () => { item.textContent = "another mail"; };</script>"""


async def test_each_connection_acts_on_the_names_that_it_received_itself(shared_endpoint: str) -> None:
    async with cdpengine.connect(shared_endpoint) as first, cdpengine.connect(shared_endpoint) as second:
        page = await first.new_page()
        await page.set_content(ONE_ITEM)
        [(ref, _)] = (await page.snapshot()).refs.items()
        await page.evaluate("rename()")
        same = await second.wait_for_page(where=lambda each: each.target_id == page.target_id)
        assert (await same.snapshot()).refs[ref].name == "another mail"
        with pytest.raises(cdpengine.errors.StaleRefError, match="another mail"):
            await page.click(ref, refuse_renamed=True)
        assert await page.evaluate("picked") == []
        assert (await same.click(ref, refuse_renamed=True)).renamed is None
        outcome = await page.click(ref)
        assert await page.evaluate("picked") == ["another mail", "another mail"]
        assert outcome.renamed is not None
        assert outcome.renamed.old.name == "item 0 of mails"
        assert (await page.click(ref, refuse_renamed=True)).renamed is None
        await page.close()
