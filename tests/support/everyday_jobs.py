"""An everyday job on one page of a pool, a `map` run or a cluster, and the site for it.

Each step covers a feature that once broke with many open pages or with unusual page text.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine

LIST = """<!doctype html><meta charset=utf-8><link rel=icon href="data:,"><title>List</title>
<label><input type=checkbox style="display: none" onchange="note('box ' + this.checked)">Terms <a href="/terms">read</a></label>
<a href="/item">Item</a> <button onclick="alert('late'); note('alert ' + this.textContent.length)"></button>
<input type=file onchange="upload(this.files[0])">
<script>
const name = new URL(location).searchParams.get("n");
const note = (what) => fetch(`/note?n=${name}`, {method: "POST", body: what});
const upload = (file) => fetch(`/note?n=${name}`, {method: "POST", body: file});
document.querySelector("button").textContent = "half " + String.fromCharCode(0xd83d);
document.title = "List " + name;
</script>"""


class NotingSite:
    """A site whose pages report their events under the name in their URL."""

    def __init__(self, server: HTTPServer) -> None:
        self.notes: Counter[tuple[str, str]] = Counter()
        self.server = server
        server.expect_request("/list").respond_with_data(LIST, content_type="text/html")
        item = "<!doctype html><link rel=icon href='data:,'><title>Item</title><p>Item</p>"
        server.expect_request("/item").respond_with_data(item, content_type="text/html")
        server.expect_request("/note").respond_with_handler(self._note)

    def _note(self, request: Request) -> Response:
        self.notes[request.args["n"], request.get_data().decode()] += 1
        return Response("")

    def url(self, name: object) -> str:
        return self.server.url_for(f"/list?n={name}")

    def missing(self, names: list[str]) -> list[tuple[str, str]]:
        """Return the events that should occur once for each name and did not."""
        wanted = [(name, what) for name in names for what in ("box true", "alert 6", f"content of {name}")]
        return [each for each in wanted if self.notes[each] != 1]


async def begin(page: cdpengine.Page, url: str) -> cdpengine.Snapshot:
    """Open the page and look at it."""
    await page.goto(url)
    return await page.snapshot()


async def go_on(page: cdpengine.Page, snapshot: cdpengine.Snapshot) -> dict[str, Any]:
    """Use the refs, navigate away and back, use the page again, and take a picture."""
    name = page.url.rpartition("=")[2]
    await page.check(snapshot.find(role="checkbox").id)
    await page.click(snapshot.find(role="link", name="Item").id)
    title = await page.title()
    await page.go_back()
    again = await page.snapshot()
    await page.click(again.find(role="button").id)
    file = cdpengine.FileContent(
        name=f"{name}.txt", data=f"content of {name}".encode(), mime_type="text/plain"
    )
    await page.upload(await page.find(css="input[type=file]"), file)
    await page.wait_for(network_idle=0.1)
    picture = await page.screenshot()
    return {
        "titles": [title, await page.title()],
        "half": await page.evaluate("document.querySelector('button').textContent"),
        "dialogs": [each.message for each in page.dialogs.records],
        "picture": len(picture) > 100,
    }


def expected(name: str) -> dict[str, Any]:
    titles = ["Item", f"List {name}"]
    return {"titles": titles, "half": "half \ud83d", "dialogs": ["late"], "picture": True}


async def do_all(page: cdpengine.Page, url: str) -> dict[str, Any]:
    """Do the whole job, in the form that `cdpengine map` and a cluster call."""
    done = await go_on(page, await begin(page, url))
    return dict(json.loads(json.dumps(done)))
