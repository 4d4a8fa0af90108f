"""Actions on a frame's element reach the document in the frame, as that document's log shows."""

from __future__ import annotations

import json

import pytest
from pytest_httpserver import HTTPServer

import cdpengine

pytestmark = pytest.mark.chrome

INNER = """<!doctype html><script>
for (const type of ["mousemove", "click", "dblclick", "contextmenu"])
  addEventListener(type, () => parent.postMessage(type, "*"));
</script><p>Inner</p>"""
OUTER = """<!doctype html><link rel=icon href="data:,"><script>
var log = [];
addEventListener("message", (event) => log.push(event.data));
addEventListener("click", (event) => log.push("outer " + event.target.tagName));
</script><iframe src="%s" width=200 height=100></iframe>
<div id=cover style="position: absolute; left: 0; top: 0; width: 400px; height: 300px; display: none">Cover</div>"""


@pytest.fixture(params=["near", "far"])
def url(request: pytest.FixtureRequest, httpserver: HTTPServer) -> str:
    inner = httpserver.url_for("/inner").replace("localhost", "127.0.0.1")
    if request.param == "far":
        inner = inner.replace("127.0.0.1", "localhost")
    httpserver.expect_request("/inner").respond_with_data(INNER, content_type="text/html")
    httpserver.expect_request("/").respond_with_data(OUTER % inner, content_type="text/html")
    outer = httpserver.url_for("/")
    return outer.replace("localhost", "127.0.0.1")


async def test_document_in_frame_receives_the_action(page: cdpengine.Page, url: str) -> None:
    await page.goto(url)
    await page.settled()
    frame = await page.find(css="iframe")
    expected = []
    for act, event in (
        (page.hover(frame), "mousemove"),
        (page.click(frame), "click"),
        (page.click(frame, count=2), "dblclick"),
        (page.click(frame, button="right"), "contextmenu"),
        (page.click(frame, position=(20, 20)), "click"),
    ):
        outcome = await act
        assert outcome.delivered
        assert outcome.elsewhere == ()
        expected.append(event)
        await page.wait_for(expression=f"log.includes({json.dumps(event)})")
    # The frame's messages reach the log after the action.
    await page.wait_for(expression="log.filter((each) => each === 'click').length >= 4")
    log = await page.evaluate("log")
    assert not [each for each in log if each.startswith("outer")]
    assert log.count("click") == 4, log


async def test_cover_of_frame_is_named(page: cdpengine.Page, url: str) -> None:
    await page.goto(url)
    await page.settled()
    frame = await page.find(css="iframe")
    await page.evaluate("document.getElementById('cover').style.display = 'block'")
    with pytest.raises(cdpengine.errors.CoveredError, match="Cover"):
        await page.click(frame, timeout=0.5)
    outcome = await page.click(frame, force=True)
    assert not outcome.delivered
    assert outcome.received_by.startswith("div")
