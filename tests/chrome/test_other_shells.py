"""docs/other-shells.md: each command and tool of its tables works as it is written there.

Rule: the code of the right column is performed in order, on a fresh document for each row. One service and one MCP
server run all rows.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
from doc_examples import ROOT
from mcp import Client
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from cdpengine.act.commands.parsing import Typed
from cdpengine.act.tooling.table import CAPABILITIES
from cdpengine.cli.commands import commands
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.mcp_tools import TOOLS
from cdpengine.service.outputs import open_outputs
from cdpengine.service.serving import open_service
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy
from cdpengine.shell.background import Background, BackgroundOptions, running
from cdpengine.shell.client import VERBS, split_url

pytestmark = pytest.mark.chrome

PAGE = ROOT / "docs/other-shells.md"
SITE = "https://shop.example/"
SHOP = """<!doctype html><title>Shop</title><link rel=icon href="data:,"><main><h1>Shop</h1><p id=out>text</p>
<button id=buy>Buy</button><label>Email <input id=email placeholder=Search></label><p data-testid=total>3</p>
<label><input id=agree type=checkbox>Agree</label><select id=colour><option>Blue<option>Red</select>
<input id=file type=file><a id=more href="/more">More</a><a id=save href="/file" download>Save</a><ul><li>a<li>b<li>c</ul>
<button id=one draggable=true>One</button><button id=two ondragover="event.preventDefault()">Two</button><i title=Help>?</i>
<button id=ask onclick="confirm('Sure?')">Ask</button><img alt=Logo width=9 height=9>
<iframe name=inner srcdoc="<button>Inner</button>"></iframe></main>"""


@attrs.frozen
class Row:
    """A row of a table: the other tool, its names, and our code. A row without code has a reason."""

    peer: str
    names: str
    ours: str

    @property
    def code(self) -> list[str]:
        return [] if self.ours.startswith("—") else re.findall(r"`([^`]+)`", self.ours)


def rows() -> list[Row]:
    found, peer = [], ""
    for line in PAGE.read_text("utf-8").splitlines():
        peer = line.removeprefix("## ") if line.startswith("## ") else peer
        if line.startswith("| `"):
            names, ours = line.strip("| ").split(" | ")
            found.append(Row(peer, names, ours))
    return found


ROWS = rows()
SHELL = [row for row in ROWS if row.peer == "agent-browser"]
TOOL_ROWS = [row for row in ROWS if row.peer != "agent-browser"]


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    def answer(request: Request) -> Response:
        if request.path == "/file":
            return Response("x", headers={"Content-Disposition": "attachment; filename=a.txt"})
        return Response(SHOP, content_type="text/html")

    httpserver.expect_request(re.compile("/.*")).respond_with_handler(answer)
    return httpserver.url_for("/shop/")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's folders, and a folder for files. The path is short because socket paths are limited."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cdpengine-rows-") as root:
        monkeypatch.setenv("XDG_RUNTIME_DIR", root)
        monkeypatch.setenv("XDG_STATE_HOME", f"{root}/state")
        Path(root, "cdpengine").mkdir(mode=0o700)
        Path(root, "a.txt").write_text("x")
        yield Path(root)


def test_each_row_has_code_or_a_reason() -> None:
    assert len(SHELL) > 70
    assert len(TOOL_ROWS) > 50
    names = {tool.name for tool in TOOLS}
    for row in ROWS:
        assert row.code or re.match(r"— .{15,}", row.ours), row
        for code in row.code:
            word, _, rest = code.partition(" ")
            if row.peer != "agent-browser":
                assert word in names, row
            elif word == "cdpengine":
                assert rest.split()[0] in {*commands.commands, *VERBS}, row
            else:
                assert word in VERBS or code.startswith("--session"), row


async def perform(background: Background, folder: Path, code: str) -> str:
    """Perform a command, and return the fault, or ""."""
    url, words = (
        split_url(shlex.split(code)) if code.startswith("extract http") else (None, shlex.split(code))
    )
    if url is not None:  # a browser of its own: only the page differs
        await background.perform(Typed(arguments=["open", url], folder=str(folder)))
    printed = await background.perform(Typed(arguments=words, folder=str(folder)))
    is_false = words[0] == "is" and printed.out == "false\n"
    return "" if printed.status == 0 or is_false else f"{code}: {printed.err}"


async def test_each_command_works_as_written(folder: Path, site: str) -> None:
    faults = []
    async with running(BackgroundOptions()) as background:
        do = partial(perform, background, folder)
        for row in SHELL:
            faults += [await do(f"open {site}"), await do("resize 1280 720")]
            for code in row.code:
                word = code.split()[0]
                if word not in ("cdpengine", "--session") and " DIR" not in code and " URL" not in code:
                    faults.append(await do(code.replace(SITE, site)))
            if "emulate" in row.ours:
                faults.append(await do("emulate --reset"))
    assert not any(faults), "\n".join(filter(None, faults))


async def test_each_tool_works_as_written(folder: Path, site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    faults = []
    async with open_outputs(None) as outputs:
        settings = ServiceSettings(
            token="x" * 32,
            url_policy=UrlPolicy(allow_private=True),
            files=folder,
            states=folder / "states",
            outputs=outputs.path,
            commands_enabled=True,
        )
        async with open_service(settings) as service:
            offered = McpSettings(capabilities=CAPABILITIES)
            server = ToolServer(partial(service.perform, "mcp"), offered, outputs)
            async with Client(server.server()) as client:

                async def call(tool: str, arguments: dict[str, Any]) -> str:
                    result = await client.call_tool(tool, arguments)
                    return f"{tool} {arguments}: {result.content}" if result.is_error else ""

                for row in TOOL_ROWS:
                    faults.append(await call("navigate", {"url": site}))
                    for code in row.code:
                        tool, _, arguments = code.partition(" ")
                        faults.append(await call(tool, json.loads((arguments or "{}").replace(SITE, site))))
                    if "emulate" in row.ours:
                        faults.append(await call("emulate", {"reset": True}))
    assert not any(faults), "\n".join(filter(None, faults))
