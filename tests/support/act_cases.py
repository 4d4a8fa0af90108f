"""The table of request cases, shared by all ways in: requests, their page, and the expected answers.

Rule: a case is data. Its steps are requests as JSON. All steps but the last prepare the page and must
succeed. `expected` is compared with a part of the last answer's JSON. `record` is the page's own event log. A
`Has` matches any string that contains its part.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Response

PAGE = """<!doctype html><title>Stage</title><link rel=icon href="data:,">
<script>
const record = [];
for (const type of ["click", "dblclick", "contextmenu", "input", "change", "submit"])
  addEventListener(type, (e) => {
    if (type === "submit") e.preventDefault();
    record.push(`${type} ${e.target.id}${e.isTrusted ? "" : " untrusted"}${e.shiftKey ? " shift" : ""}`);
  }, true);
</script>
<button id=go>Go</button>
<button id=off disabled>Off</button>
<button id=hidden style="display:none">Hidden</button>
<div style="position:relative;width:200px;height:40px">
  <button id=under style="position:absolute;left:0;top:0;width:90px;height:30px">Under</button>
  <div id=cover role=dialog aria-label=Cookies style="position:absolute;left:0;top:0;width:90px;height:30px">
    <button id=accept onclick="cover.remove()">OK</button></div>
</div>
<form id=form><input id=name aria-label=Name></form><div id=rest><input id=secret type=password aria-label=Secret>
<input id=agree type=checkbox aria-label=Agree><select id=colour aria-label=Colour><option value="">-</option>
<option value=r>Red</option><option value=b>Blue</option></select><input id=file type=file aria-label=File></div>
<button id=ask onclick="record.push(`answer ${confirm('Sure?')}`)">Ask</button>
<button id=prompt onclick="record.push(`name ${prompt('Name?', 'x')}`)">Prompt</button>
<button id=choose onclick="file.click()">Choose</button>
<button id=pop onclick="window.open('/blank')">Pop</button>
<a id=leave href="/second">Leave</a> <a id=save href="/file" download>Save</a>
<button id=hang onclick="setTimeout(() => { while (true); }, 200)">Hang</button>
<button id=hangs onclick="setTimeout(() => { while (true); })">Hang at once</button>
<button id=change onclick="out.textContent = 'changed'; console.warn('careful')">Change</button>
<p id=out>as it was</p>
<button id=source draggable=true ondragstart="event.dataTransfer.setData('text/plain', 'x')">Source</button>
<button id=goal ondragover="event.preventDefault()"
  ondrop="event.preventDefault(); record.push(`drop ${event.dataTransfer.getData('text/plain')}`)">Goal</button>
<div style="height:3000px"></div><button id=below>Below</button>
"""
SECOND = '<!doctype html><title>Second</title><link rel=icon href="data:,"><h1>Second</h1>'


RESULTS = """<!doctype html><title>Results</title><link rel=icon href="data:,"><p>For {query}</p><div class=result>
<a href="/x"><img></a><h2><a href="/go?to=https%3A%2F%2Fshop.example%2Fblue">Blue <b>shoes</b> &amp; more</a></h2>
<script>document.write("")</script><p>All shoes. <style>p {{}}</style>In <em>blue</em>.</p></div>
<div class=result>An advertisement without a link</div>
<div class=result><a href="/second?a=b">Second</a> <span>Nothing else</span></div>"""


@attrs.frozen
class Has:
    """Matches a string that contains `part`."""

    part: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.part in other

    __hash__ = None  # type: ignore[assignment]


class _More:
    """Matches a number above 0."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (int, float)) and other > 0

    __hash__ = None  # type: ignore[assignment]


MORE = _More()


@attrs.frozen(kw_only=True)
class Case:
    """One row of the table."""

    name: str
    steps: tuple[dict[str, Any], ...]
    expected: dict[str, Any]
    record: tuple[str, ...] | None = None
    evaluate_enabled: bool = True


OK: dict[str, Any] = {"ok": True}


def row(
    name: str,
    *steps: dict[str, Any],
    record: tuple[str, ...] | None = None,
    evaluate_enabled: bool = True,
    **expected: Any,
) -> Case:
    return Case(
        name=name,
        steps=steps,
        expected={"ok": True, **expected},
        record=record,
        evaluate_enabled=evaluate_enabled,
    )


def refused(
    name: str, *steps: dict[str, Any], kind: str, record: tuple[str, ...] | None = None, **more: Any
) -> Case:
    enabled = more.pop("evaluate_enabled", True)
    error = {"kind": kind, **more}
    return Case(
        name=name,
        steps=steps,
        expected={"ok": False, "error": error},
        record=record,
        evaluate_enabled=enabled,
    )


def ask(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, **fields}


SNAPSHOT = ask("snapshot")
HANG = ask("click", selector="#hang")

CASES = [
    # --- one case for each kind ---
    row("click by selector", ask("click", selector="#go"), record=("click go",), effects={"delivered": True}),
    row("click by ref", SNAPSHOT, ask("click", ref="$ref(Go)"), record=("click go",)),
    row("double click", ask("click", selector="#go", doubleClick=True), record=("click go", "click go", "dblclick go")),
    row("right click", ask("click", selector="#go", button="right"), record=("contextmenu go",)),
    row("click with a modifier", ask("click", selector="#go", modifiers=["Shift"]), record=("click go shift",)),
    row("click at a position", ask("click", selector="#go", position={"x": 3, "y": 3}), record=("click go",)),
    row("click with force on a covered element", ask("click", selector="#under", force=True), effects={"delivered": False}),
    row("type", ask("type", selector="#name", text="ab"), record=("input name", "input name")),
    row("type slowly", ask("type", selector="#name", text="ab", slowly=True), record=("input name", "input name")),
    row("type and submit", ask("type", selector="#name", text="a", submit=True), record=("input name", "change name", "submit form")),
    row("press on an element", ask("press", selector="#name", key="a"), record=("input name",)),
    row("press where the focus is", ask("type", selector="#name", text="a"), ask("press", key="b"), record=("input name", "input name")),
    row("hover", ask("hover", selector="#go"), effects={"delivered": True}),
    row("scroll into view", ask("scrollIntoView", selector="#below")),
    row("scroll by pixels", ask("scroll", dy=100), ask("evaluate", function="scrollY"), result=100),
    row("scroll by a viewport", ask("scroll", direction="down"), ask("evaluate", function="scrollY === innerHeight"), result=True),
    row("scroll over an element", ask("scroll", selector="#go", dy=50), effects={"delivered": True}),
    row("drag", SNAPSHOT, ask("drag", startRef="$ref(Source)", endRef="$ref(Goal)"), record=("drop x",)),
    row("drag by selectors", ask("drag", startSelector="#source", endSelector="#goal"), record=("drop x",)),
    row("select by value", ask("select", selector="#colour", values=["b"]), record=("input colour", "change colour", "click colour")),
    row("select by label", ask("select", selector="#colour", values=["Red"]), ask("evaluate", function="colour.value"), result="r"),
    row("fill a form", ask("fill", fields=[{"selector": "#name", "value": "ada"}, {"selector": "#agree", "value": True}, {"selector": "#colour", "value": "r"}]),
        ask("evaluate", function="[document.getElementById('name').value, agree.checked, colour.value]"), result=["ada", True, "r"]),
    row("fill with a number", ask("fill", fields=[{"selector": "#name", "value": 3}]), ask("evaluate", function="document.getElementById('name').value"), result="3"),
    row("check", ask("check", selector="#agree"), ask("evaluate", function="agree.checked"), result=True),
    row("uncheck", ask("check", selector="#agree"), ask("check", selector="#agree", checked=False), ask("evaluate", function="agree.checked"), result=False),
    row("upload", ask("upload", selector="#file", paths=["$file"]), ask("evaluate", function="file.files[0].name"), result="upload.txt"),
    row("highlight", ask("highlight", selector="#go", durationMs=50)),
    row("resize", ask("resize", width=500, height=400), ask("evaluate", function="[innerWidth, innerHeight]"), result=[500, 400]),
    row("wait for time", ask("wait", timeMs=20)),
    row("wait for text", ask("wait", text="as it was")),
    row("wait until text disappears", ask("click", selector="#change"), ask("wait", textGone="as it was")),
    row("wait for a selector", ask("wait", selector="#go")),
    row("wait for a URL", ask("wait", url="*/stage")),
    row("wait for a load state", ask("wait", loadState="load")),
    row("wait for a function", ask("wait", function="document.title === 'Stage'")),
    row("evaluate an expression", ask("evaluate", function="1 + 1"), result=2),
    row("evaluate a function with arguments", ask("evaluate", function="(a, b) => a + b.c", args=[1, {"c": 2}]), result=3),
    row("evaluate with an element", ask("evaluate", function="(e) => e.id", selector="#go"), result="go"),
    row("evaluate with a ref", SNAPSHOT, ask("evaluate", function="(e) => e.id", ref="$ref(Go)"), result="go"),
    row("evaluate something that JSON lacks", ask("evaluate", function="[NaN, -Infinity, new Date(0), undefined]"), result=["NaN", "-Infinity", "1970-01-01T00:00:00.000Z", None]),
    row("navigate", ask("navigate", url="$site/second"), result={"status": 200}, url=Has("/second")),
    row("navigate until commit", ask("navigate", url="$site/second", waitUntil="commit"), result={"status": 200}),
    row("back", ask("navigate", url="$site/second"), ask("back"), url=Has("/stage")),
    row("forward", ask("navigate", url="$site/second"), ask("back"), ask("forward"), url=Has("/second")),
    row("reload", ask("reload"), result={"status": 200}),
    row("snapshot", SNAPSHOT, result={"title": "Stage", "snapshot": Has('button "Go" [ref=e')}),
    row("snapshot of interactive elements", ask("snapshot", interactive=True, mode="numbered"), result={"snapshot": Has('] button "Go"')}),
    row("snapshot of one element", ask("snapshot", root="#form"), result={"snapshot": Has('textbox "Name"')}),
    row("snapshot of the lines that match a search", ask("snapshot", find="AGREE"), result={"snapshot": Has('- checkbox "Agree" [ref=e')}),
    row("snapshot of a search without matches", ask("snapshot", find="unmatched words"), result={"snapshot": "# no line contains 'unmatched words'"}),
    row("snapshot with details", ask("snapshot", mode="aria", ignored=True, details=True), result={"details": {"gaps": [], "stats": {"source": "ax"}}}),
    row("snapshot of the DOM", ask("snapshot", source="dom", details=True), result={"details": {"stats": {"source": "dom"}}}),
    row("snapshot as a diff", SNAPSHOT, ask("click", selector="#change"), ask("wait", text="changed"), ask("snapshot", diff=True), result={"diff": Has("changed")}),
    row("click with its diff", ask("click", selector="#change", diff=True), diff=Has('~ - paragraph: "changed"')),
    row("a diff of all after a snapshot of some", ask("snapshot", interactive=True, maxTokens=60), ask("click", selector="#change", diff=True), diff=Has('~ - paragraph: "changed"')),
    row("a diff of all after a snapshot of one element", ask("snapshot", root="#form"), ask("click", selector="#change", diff=True), diff=Has('~ - paragraph: "changed"')),
    row("a diff in the mode of the last snapshot", ask("snapshot", mode="numbered", interactive=True), ask("click", selector="#agree", diff=True), diff=Has('] checkbox "Agree"')),
    row("diff of a snapshot that a size cuts", ask("snapshot", maxTokens=60), ask("click", selector="#change"), ask("wait", text="changed"), ask("snapshot", maxTokens=60, diff=True), result={"diff": Has('~ - paragraph: "changed"')}),
    row("navigate with its diff", ask("navigate", url="$site/second", diff=True), diff=Has('heading "Second"')),
    row("a change within the document with its diff", SNAPSHOT, ask("navigate", url="$site/stage#x", diff=True), result={"sameDocument": True}, diff=Has("nothing changed")),
    row("find", ask("find", role="button", name="go"), result={"count": 1, "nodes": [{"ref": Has("e"), "role": "button", "name": "Go", "nth": 0}]}),
    row("find nothing", ask("find", role="button", name="none of these"), result={"count": 0, "nodes": []}),
    row("get the text", ask("get", what="text", selector="#out"), result="as it was"),
    row("get the HTML", ask("get", what="html", selector="text=as it was"), result='<p id="out">as it was</p>'),
    row("get a value", ask("type", selector="#name", text="ada"), ask("get", what="value", selector="label=Name"), result="ada"),
    row("get the text of a ref", SNAPSHOT, ask("get", what="text", ref="$ref(Go)"), result="Go"),
    row("get an attribute", ask("get", what="attribute", selector='role=link[name="Leave"]', name="href"), result="/second"),
    row("get no attribute", ask("get", what="attribute", selector="#out", name="href")),
    row("get a style", ask("get", what="style", selector="#cover", name="position"), result="absolute"),
    row("get a box", ask("get", what="box", selector="#cover"), result={"width": 90, "height": 30}),
    row("get no box", ask("get", what="box", selector="#hidden")),
    row("get a count", ask("get", what="count", selector="button[id^=g]"), result=2),
    row("get a count of nothing", ask("get", what="count", selector="role=slider"), result=0),
    row("get the title", ask("get", what="title"), result="Stage"),
    row("get the URL", ask("get", what="url"), result=Has("/stage")),
    row("is visible", ask("is", state="visible", selector="#go"), result=True),
    row("is not visible", ask("is", state="visible", selector="#hidden"), result=False),
    row("is not there", ask("is", state="visible", selector="text=none of these"), result=False),
    row("is not enabled", ask("is", state="enabled", selector="#off"), result=False),
    row("is checked", ask("check", selector="#agree"), ask("is", state="checked", selector="#agree"), result=True),
    row("is enabled by ref", SNAPSHOT, ask("is", state="enabled", ref="$ref(Go)"), result=True),
    row("is focused", ask("type", selector="#name", text="a"), ask("is", state="focused", selector="#name"), result=True),
    row("is editable", ask("is", state="editable", selector="#name"), result=True),
    row("screenshot", ask("screenshot"), result={"format": "png", "base64": Has("iVBORw0KGgo")}),
    row("screenshot of one element", ask("screenshot", selector="#go", format="jpeg", quality=50), result={"format": "jpeg"}),
    row("screenshot to a file", ask("screenshot", path="$folder/shot.png"), result={"path": Has("shot.png")}),
    row("screenshot with labels", ask("screenshot", labels=True), result={"snapshot": Has('button "Go"')}),
    row("screenshot of a rectangle", ask("screenshot", clip=[0, 0, 30, 20], scale=2, omitBackground=True), result={"base64": Has("iVBORw0KGgo")}),
    refused("screenshot of a rectangle and an element", ask("screenshot", clip=[0, 0, 9, 9], selector="#go"), kind="invalidArgument"),
    row("pdf", ask("pdf"), result={"base64": Has("JVBER")}),
    row("pdf to a file", ask("pdf", path="$folder/page.pdf"), result={"path": Has("page.pdf")}),
    row("pdf with options", ask("pdf", paper="10cmx20cm", margin="1cm,2cm", pages="1", header="<b>a</b>", outline=True), result={"bytes": MORE}),
    refused("pdf on unknown paper", ask("pdf", paper="A99"), kind="invalidArgument", message=Has("A99")),
    row("extract Markdown", ask("navigate", url="$site/second"), ask("extract"), result=Has("# Second")),
    row("extract text", ask("extract", format="text", selector="#out"), result=Has("as it was")),
    row("console", ask("console"), ask("click", selector="#change"), ask("console", level="warning"), result={"messages": [{"level": "warning", "text": "careful"}]}),
    row("requests", ask("requests", clear=True), ask("reload"), ask("requests", url="*/stage"), result={"requests": [{"method": "GET", "status": 200}]}),
    row("cookies", ask("setCookies", cookies=[{"name": "a", "value": "b", "url": "$site/"}]), ask("cookies"), result=[{"name": "a", "value": "b"}]),
    row("cookies that are cleared", ask("setCookies", cookies=[{"name": "a", "value": "b", "url": "$site/"}]), ask("clearCookies"), ask("cookies"), result=[]),
    row("storage", ask("setStorage", items={"a": "b"}), ask("storage"), result={"a": "b"}),
    row("emulate preferences", ask("emulate", colorScheme="dark", locale="de-DE"), ask("evaluate", function="[matchMedia('(prefers-color-scheme: dark)').matches, navigator.language]"), result=[True, "de-DE"]),
    row("emulate a device", ask("emulate", device="Pixel 9"), ask("reload"), ask("evaluate", function="[screen.width, navigator.userAgent.includes('Android')]"), result=[412, True]),
    row("emulate and reset", ask("emulate", colorScheme="dark", network="offline"), ask("emulate", reset=True), ask("evaluate", function="[matchMedia('(prefers-color-scheme: dark)').matches, navigator.onLine]"), result=[False, True]),
    row("emulate a place", ask("emulate", geolocation=[48.2, 16.4], grant=["geolocation"]), ask("evaluate", function="new Promise((yes, no) => navigator.geolocation.getCurrentPosition(p => yes(p.coords.latitude), e => no(e.message)))"), result=48.2),
    row("emulate no network", ask("emulate", network="offline"), ask("evaluate", function="navigator.onLine"), result=False),
    row("emulate the network again", ask("emulate", network="offline"), ask("emulate", network="online"), ask("evaluate", function="fetch('/second').then(r => r.status)"), result=200),
    row("answer a request", ask("route", url="*/api/user", body='{"name": "Ada"}', contentType="application/json"), ask("evaluate", function="fetch('/api/user').then(r => r.json())"), result={"name": "Ada"}),
    row("block requests", ask("route", url="*/second", block=True), ask("evaluate", function="fetch('/second').then(r => 'sent', () => 'blocked')"), result="blocked"),
    row("list routes", ask("route", url="*/a", block=True, resourceTypes=["Image"]), ask("route", url="*/b", status=404), ask("evaluate", function="fetch('/b').then(r => r.status)"), ask("routes"),
        result=[{"url": "*/b", "answer": "404", "requests": 1}, {"url": "*/a", "answer": "block", "resourceTypes": ["Image"], "requests": 0}]),
    row("end a route", ask("route", url="*/second", block=True), ask("route", url="*/b", block=True), ask("unroute", url="*/second"), result={"removed": 1}),
    row("send as before after routes end", ask("route", url="*/second", block=True), ask("unroute"), ask("evaluate", function="fetch('/second').then(r => r.status)"), result=200),
    row("session storage", ask("setStorage", area="session", items={"a": "b", "c": "d"}), ask("clearStorage", area="session", keys=["a"]), ask("storage", area="session"), result={"c": "d"}),
    row("tabs", ask("newTab"), ask("tabs"), result=[{"index": 0, "current": False}, {"index": 1, "current": True, "url": "about:blank"}]),
    row("focus a tab", ask("newTab"), ask("focusTab", index=0), ask("evaluate", function="document.title"), result="Stage"),
    row("a page by its number", ask("newTab"), ask("evaluate", function="document.title", targetId="0"), result="Stage"),
    row("close a tab", ask("newTab", url="$site/second"), ask("close"), ask("tabs"), result=[{"index": 0, "current": True}]),
    row("a popup", ask("click", selector="#pop"), effects={"popup": {"url": Has("")}}),
    row("an accepted dialog", ask("dialog", accept=True), ask("click", selector="#ask"), effects={"dialogs": [{"type": "confirm", "accepted": True}]}, record=("click ask", "answer true")),
    row("a dismissed dialog", ask("dialog", accept=False), ask("click", selector="#ask"), record=("click ask", "answer false")),
    row("a prompt", ask("dialog", accept=True, promptText="ada"), ask("click", selector="#prompt"), record=("click prompt", "name ada")),
    row("an unexpected dialog", ask("click", selector="#ask"), effects={"dialogs": [{"type": "confirm", "accepted": False}]}, record=("click ask", "answer false")),
    row("a file chooser", ask("fileChooser", paths=["$file"]), ask("click", selector="#choose"), ask("wait", function="file.files.length === 1")),
    row("a download", ask("download", selector="#save", directory="$folder"), result={"suggestedFilename": "file.txt", "bytes": 5}),
    row("a navigation that a click begins", ask("click", selector="#leave"), effects={"navigation": {"url": Has("/second")}}),
    row("a click and then a snapshot of where it leads", ask("click", selector="#leave"), SNAPSHOT, result={"snapshot": Has('heading "Second"')}),
    row("a command of the protocol", ask("command", method="Runtime.evaluate", params={"expression": "document.title"}), result={"result": {"value": "Stage"}}),
    row("a command to the browser", ask("command", method="Browser.getVersion", browser=True), result={"protocolVersion": "1.3"}),
    row("messages", ask("messages"), ask("command", method="DOM.getDocument", params={"depth": 0}), ask("messages", method="DOM.get*", stop=True),
        result={"count": 2, "messages": [{"k": "call", "d": ">", "m": "DOM.getDocument"}, {"k": "reply", "d": "<", "m": "DOM.getDocument"}]}),
    row("a recording", ask("startRecording", path="$folder/traffic.jsonl"), ask("evaluate", function="1"), ask("stopRecording"), result={"path": Has("traffic.jsonl"), "messages": MORE, "bytes": MORE, "lost": 0}),
    row("the body of a response", ask("reload"), ask("responseBody", url="*/stage"), result={"status": 200, "type": "text/html", "body": Has("<title>Stage</title>")}),
    row("metrics", ask("metrics"), result={"Documents": MORE, "Nodes": MORE, "JSHeapUsedSize": MORE}),
    row("a trace", ask("startMeasurement", measurement="trace", path="$folder/trace.json.gz"), ask("stopMeasurement", measurement="trace"), result={"path": Has("trace.json.gz"), "bytes": MORE, "dataLost": False}),
    row("a profile", ask("startMeasurement", measurement="profile", path="$folder/a.cpuprofile"), ask("evaluate", function="1"), ask("stopMeasurement", measurement="profile"), result={"path": Has("a.cpuprofile"), "bytes": MORE}),
    row("coverage", ask("startMeasurement", measurement="coverage"), ask("reload"), ask("stopMeasurement", measurement="coverage"), result={"usedBytes": MORE, "totalBytes": MORE}),
    row("a heap snapshot", ask("newTab"), ask("heapSnapshot", path="$folder/a.heapsnapshot"), result={"path": Has("a.heapsnapshot"), "bytes": MORE}),
    row("search", ask("search", query="blue shoes", engine="local"), result=[
        {"title": "Blue shoes & more", "url": "https://shop.example/blue", "snippet": "All shoes. In blue."},
        {"title": "Second", "url": "$site/second?a=b", "snippet": "Nothing else"},
    ]),
    row("search with a limit", ask("search", query="blue shoes", engine="local", limit=1), ask("tabs"), result=[{"current": True}]),
    # --- one case for each error ---
    refused("an unknown search engine", ask("search", query="a", engine="altavista"), kind="invalidArgument", message=Has("duckduckgo")),
    refused("a search engine that does not answer", ask("search", query="a", engine="gone"), kind="navigationFailed"),
    refused("an unknown kind", ask("clik", ref="e1"), kind="invalidArgument", message=Has("'click'"), retryable=False),
    refused("an unknown field", ask("click", reff="e1"), kind="invalidArgument", message=Has("'ref'")),
    refused("a stale ref", SNAPSHOT, ask("evaluate", function="document.getElementById('go').remove()"), ask("click", ref="$ref(Go)"), kind="staleRef", hint=Has("snapshot")),
    refused("a ref of the document before", SNAPSHOT, ask("navigate", url="$site/second"), ask("click", ref="$ref(Go)"), kind="staleRef"),
    refused("a ref that was never given", ask("click", ref="e999"), kind="nodeNotFound"),
    refused("a selector that matches nothing", ask("click", selector="#none", timeoutMs=1_000), kind="nodeNotFound"),
    refused("a selector that matches several", ask("click", selector="button"), kind="ambiguousNode"),
    refused("an invalid selector", ask("click", selector="!!"), kind="invalidArgument"),
    refused("a covered element", SNAPSHOT, ask("click", selector="#under", timeoutMs=1000), kind="covered", coveredByRef=Has("e"), retryable=True, record=()),
    refused("a hidden element", ask("click", selector="#hidden", timeoutMs=300), kind="notInteractable", state="invisible", retryable=True, record=()),
    refused("a disabled element", ask("click", selector="#off", timeoutMs=1000), kind="notInteractable", state="disabled", retryable=True, record=()),
    refused("type into an element without text input", ask("type", selector="#go", text="a", timeoutMs=500), kind="notInteractable"),
    refused("an unknown key", ask("press", key="Entre"), kind="invalidArgument"),
    refused("a missing option", ask("select", selector="#colour", values=["Green"]), kind="optionNotFound", message=Has("Blue")),
    refused("a missing file", ask("upload", selector="#file", paths=["/none/such"]), kind="invalidArgument"),
    refused("a form with one bad field", ask("fill", fields=[{"selector": "#name", "value": "a"}, {"selector": "#colour", "value": "Green"}], timeoutMs=2000), kind="form"),
    refused("a script that throws", ask("evaluate", function="null.x"), kind="evaluationFailed", message=Has("TypeError")),
    refused("a script that never ends", ask("evaluate", function="while (true);", timeoutMs=300), kind="evaluationTimeout"),
    refused("a promise that never settles", ask("evaluate", function="new Promise(() => {})", timeoutMs=300), kind="evaluationTimeout"),
    refused("a wait that times out", ask("wait", text="never", timeoutMs=200), kind="deadlineExceeded", message=Has("never"), retryable=True),
    refused("a server that does not answer", ask("navigate", url="http://127.0.0.1:1/"), kind="navigationFailed", message=Has("ERR_")),
    refused("a history without an entry", ask("newTab"), ask("forward"), kind="navigationFailed"),
    refused("a missing page", ask("click", ref="e1", targetId="ABC"), kind="invalidArgument", message=Has("targetId")),
    refused("a number that no page has", ask("click", ref="e1", targetId="7"), kind="invalidArgument", message=Has("targetId")),
    refused("a drag from nowhere", ask("drag", endRef="e1"), kind="invalidArgument", message=Has("startRef")),
    refused("a drag to two places", ask("drag", startRef="e1", endRef="e1", endSelector="#go"), kind="invalidArgument", message=Has("endRef")),
    refused("a missing tab", ask("focusTab", index=9), kind="invalidArgument", message=Has("focusTab.index")),
    refused("an attribute without a name", ask("get", what="attribute", selector="#go"), kind="invalidArgument"),
    refused("a count of a ref", ask("get", what="count", ref="e1"), kind="invalidArgument"),
    refused("a title of an element", ask("get", what="title", selector="#go"), kind="invalidArgument"),
    refused("whether a link is checked", ask("is", state="checked", selector="#leave"), kind="notInteractable"),
    refused("nothing to emulate", ask("emulate"), kind="invalidArgument"),
    refused("an unknown device", ask("emulate", device="Nokia 3310"), kind="invalidArgument"),
    refused("an unknown network", ask("emulate", network="5g"), kind="invalidArgument"),
    refused("a route without an answer", ask("route", url="*/a"), kind="invalidArgument"),
    refused("a route with a script", ask("route", url="*/a", body="<script>1</script>"), kind="evaluationDisabled", evaluate_enabled=False),
    refused("a storage that a document has not", ask("newTab"), ask("storage"), kind="storageUnavailable"),
    refused("a refused cookie", ask("setCookies", cookies=[{"name": "a", "value": "b"}]), kind="invalidArgument"),
    refused("no download", ask("download", selector="#go", timeoutMs=400), kind="deadlineExceeded"),
    refused("an unknown command", ask("command", method="Page.fly"), kind="remote", message=Has("Page.fly")),
    refused("a command that does not end", ask("command", method="Runtime.evaluate", params={"expression": "while (true);"}, timeoutMs=200), kind="deadlineExceeded"),
    row("the page works after that command", ask("command", method="Runtime.evaluate", params={"expression": "while (true);"}, timeoutMs=200, _fails=True), ask("click", selector="#go"), record=("click go",)),
    refused("the end of a recording that did not begin", ask("stopRecording"), kind="invalidArgument", message=Has("none that is running")),
    refused("the end of a trace that did not begin", ask("stopMeasurement", measurement="trace"), kind="invalidArgument", message=Has("none that is running")),
    refused("a second profile", ask("startMeasurement", measurement="profile", path="$folder/b.cpuprofile"), ask("startMeasurement", measurement="profile", path="$folder/c.cpuprofile"), kind="invalidArgument", message=Has("stop the running one first")),
    refused("a recording to an existing file", ask("startRecording", path="$file"), kind="invalidArgument", message=Has("exists")),
    refused("a trace without a file", ask("startMeasurement", measurement="trace", path=""), kind="invalidArgument"),
    refused("the body of no response", ask("responseBody", url="*/none"), kind="invalidArgument", message=Has("which matches no response of the page")),
    # --- a page that hangs ---
    row("an action whose changes cannot be read", ask("click", selector="#hangs", diff=True), diff=Has("# not read")),
    refused("evaluate in a page that hangs", HANG, ask("wait", timeMs=400), ask("evaluate", function="1", timeoutMs=500), kind="evaluationTimeout"),
    row("the page works after a hang", HANG, ask("wait", timeMs=400), ask("evaluate", function="1", timeoutMs=400, _fails=True), ask("click", selector="#go"), effects={"delivered": True}),
    refused("click in a page that hangs", HANG, ask("wait", timeMs=400), ask("click", selector="#go", timeoutMs=800), kind="pageUnresponsive", hint=Has("navigate")),
    row("navigate in a page that hangs", HANG, ask("wait", timeMs=400), ask("navigate", url="$site/second"), url=Has("/second")),
    row("recover a page that hangs", HANG, ask("wait", timeMs=400), ask("recover"), result={"responsive": True, "closed": False, "report": Has("terminate: done")}),
    row("recover a page that answers", ask("recover", allow="reload"), result={"responsive": True, "report": "the page answers"}),
    row("reload in a page that hangs", HANG, ask("wait", timeMs=400), ask("reload"), ask("click", selector="#go"), record=("click go",)),
    row("close a page that hangs", ask("newTab", url="$site/stage"), HANG, ask("wait", timeMs=400), ask("close"), ask("evaluate", function="document.title"), result="Stage"),
    # --- refused scripts ---
    refused("evaluate where scripts are refused", ask("evaluate", function="1"), kind="evaluationDisabled", evaluate_enabled=False),
    refused("wait with a function where scripts are refused", ask("wait", function="1"), kind="evaluationDisabled", evaluate_enabled=False),
    refused("a javascript: URL where scripts are refused", ask("navigate", url="\tJava\nScript:alert(1)"), kind="evaluationDisabled", evaluate_enabled=False),
    refused("a data: URL where scripts are refused", ask("newTab", url=" data:text/html,<script>1</script>"), kind="evaluationDisabled", evaluate_enabled=False),
    refused("a command where scripts are refused", ask("command", method="DOM.getDocument"), kind="evaluationDisabled", evaluate_enabled=False),
    row("click where scripts are refused", ask("click", selector="#go"), record=("click go",), evaluate_enabled=False),
]  # fmt: skip


SMALLEST: dict[str, dict[str, Any]] = {
    "click": {"ref": "e1"},
    "type": {"ref": "e1", "text": "a"},
    "press": {"key": "Enter"},
    "hover": {"ref": "e1"},
    "scrollIntoView": {"ref": "e1"},
    "scroll": {"dy": 1},
    "drag": {"startRef": "e1", "endRef": "e2"},
    "select": {"ref": "e1", "values": ["a"]},
    "fill": {"fields": [{"ref": "e1", "value": "a"}]},
    "check": {"ref": "e1"},
    "upload": {"ref": "e1", "paths": ["a"]},
    "highlight": {"ref": "e1"},
    "resize": {"width": 1, "height": 1},
    "wait": {"text": "a"},
    "evaluate": {"function": "1"},
    "navigate": {"url": "about:blank"},
    "find": {"role": "button"},
    "get": {"what": "title"},
    "is": {"state": "visible", "ref": "e1"},
    "cacheLookup": {"goal": "a"},
    "startLearning": {"scenario": "a"},
    "forceRefresh": {"entry": "a"},
    "cacheDelete": {"entry": "a"},
    "cacheShow": {"entry": "a"},
    "cacheVersions": {"entry": "a"},
    "cacheRestore": {"entry": "a", "version": 1},
    "reportError": {"entry": "a"},
    "setCookies": {"cookies": [{"name": "a", "value": "b"}]},
    "setStorage": {"items": {"a": "b"}},
    "saveState": {"name": "a"},
    "loadState": {"name": "a"},
    "deleteState": {"name": "a"},
    "emulate": {"device": "Pixel 9"},
    "route": {"url": "*/a", "block": True},
    "focusTab": {"index": 0},
    "search": {"query": "a"},
    "dialog": {"accept": True},
    "fileChooser": {"paths": ["a"]},
    "command": {"method": "DOM.getDocument"},
    "responseBody": {"url": "*"},
    "startMeasurement": {"measurement": "trace"},
    "stopMeasurement": {"measurement": "trace"},
}
"""Required fields of each kind. The other kinds have no required fields."""


def holds(expected: Any, actual: Any) -> bool:
    """Return whether `expected` is a part of `actual`: each field of an object, each item of a list by
    position.
    """
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            name in actual and holds(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) == len(actual) and all(map(holds, expected, actual))
    return bool(expected == actual)


_REF = re.compile(r"\$ref\((\w+)\)")


def fill_in(step: Any, places: Mapping[str, str], seen: str) -> Any:
    """Return a step with "$site" and similar placeholders filled in.

    "$ref(Name)" comes from the last snapshot.
    """
    if isinstance(step, str):
        for name, value in places.items():
            step = step.replace(f"${name}", value)
        return _REF.sub(lambda match: _ref_of(match[1], seen), step)
    if isinstance(step, dict):
        return {name: fill_in(value, places, seen) for name, value in step.items() if name != "_fails"}
    if isinstance(step, list):
        return [fill_in(value, places, seen) for value in step]
    return step


def _ref_of(name: str, seen: str) -> str:
    match = re.search(rf'"{name}" \[ref=(e\d+)\]', seen)
    assert match, f"no {name} in {seen}"
    return match[1]


Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""One way in: takes a request as JSON and returns its answer as JSON."""


async def run_case(case: Case, ask: Ask, ask_without_scripts: Ask, places: Mapping[str, str]) -> str:
    """Run a case on a fresh page state. Return the description of the fault, or "" if the case holds.

    `ask_without_scripts` sends requests in the same way, but with scripts of callers refused.
    """
    tabs = (await ask({"kind": "tabs"}))["result"]
    for tab in tabs[1:]:
        await ask({"kind": "close", "targetId": tab["targetId"]})
    if tabs:
        await ask({"kind": "emulate", "reset": True})
        await ask({"kind": "unroute"})
    opened = await ask({"kind": "navigate" if tabs else "newTab", "url": f"{places['site']}/stage"})
    assert opened["ok"], opened
    await ask({"kind": "clearCookies"})
    page = opened["targetId"]

    async def record() -> tuple[str, ...]:
        answer = await ask({"kind": "evaluate", "function": "record", "targetId": page})
        return tuple(answer["result"])

    way = ask if case.evaluate_enabled else ask_without_scripts
    *before, last = case.steps
    seen = ""
    for step in before:
        answer = await way(fill_in(step, places, seen))
        seen = answer["result"]["snapshot"] if step["kind"] == "snapshot" else seen
        if answer["ok"] is step.get("_fails", False):
            return f"{case.name}: {step} was answered with {answer}"
    answer = await way(fill_in(last, places, seen))
    if not holds(fill_in(case.expected, places, ""), answer):
        return f"{case.name}: got {str(answer)[:1500]}, expected {case.expected}"
    if case.record is not None:
        with trio.move_on_after(3):
            while len(await record()) < len(case.record):  # noqa: ASYNC110 - events come a moment later
                await trio.sleep(0.01)
        recorded = await record()
        if recorded != case.record:
            return f"{case.name}: the page recorded {recorded}, expected {case.record}"
    return ""


def serve_pages(server: HTTPServer) -> str:
    """Serve the pages of the cases, a page of search results and a file.

    Return the address without a trailing slash.
    """
    for path, html in (("/stage", PAGE), ("/second", SECOND), ("/blank", "")):
        server.expect_request(path).respond_with_data(html, content_type="text/html")
    server.expect_request("/results").respond_with_handler(
        lambda request: Response(RESULTS.format(query=request.args["q"]), content_type="text/html")
    )
    server.expect_request("/file").respond_with_data(
        "hello", headers={"Content-Disposition": 'attachment; filename="file.txt"'}
    )
    return server.url_for("").rstrip("/")
