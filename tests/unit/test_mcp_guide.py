"""The configurations in docs/mcp.md parse in their client's format, and start the command unchanged."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

import click
import pytest
from doc_examples import ROOT, blocks
from write_verbs import size_of

from cdpengine.act import KINDS
from cdpengine.act.tooling.table import CAPABILITIES
from cdpengine.cli.acting import FURTHER_TOOLS, allowed_by, mcp, serve
from cdpengine.service.mcp_results import explain_unknown
from cdpengine.service.mcp_tools import TOOLS, choose_tools

PAGE = ROOT / "docs/mcp.md"


def configurations() -> Iterator[dict[str, Any]]:
    """Yield the entry of each block: a client's configuration of one server."""
    for block in blocks(PAGE):
        if block.language != "text":
            continue
        document = json.loads(block.source) if block.source.startswith("{") else tomllib.loads(block.source)
        ((outer, servers),) = document.items()
        assert outer in ("mcpServers", "servers", "mcp_servers")
        yield servers["browser"]


def commands() -> Iterator[list[str]]:
    for entry in configurations():
        if "command" in entry:
            yield [entry["command"], *entry["args"]]
    for block in blocks(PAGE):
        if block.language == "console":
            for line in block.source.splitlines():
                words = shlex.split(line.removeprefix("$ "))
                yield words[words.index("cdpengine") :]


def test_each_entry_starts_the_command() -> None:
    found = list(commands())
    assert len(found) == 6
    for program, name, *arguments in found:
        assert (program, name) == ("cdpengine", "mcp")
        mcp.make_context("mcp", arguments)


def test_each_entry_over_http_names_the_endpoint() -> None:
    urls = [entry["url"] for entry in configurations() if "url" in entry]
    assert urls == ["http://127.0.0.1:8787/mcp"] * 2


def test_each_tool_has_its_place_in_the_table() -> None:
    rows = [
        line.split("|")
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("| ") and line.count("|") == 3
    ]
    table = {cells[1].strip().strip("`"): cells[2] for cells in rows}
    for tool in TOOLS:
        row = table["always" if tool.capability == "core" else tool.capability]
        assert f"`{tool.name}`" in row


def test_the_default_list_of_tools_is_short() -> None:
    assert size_of(choose_tools(())) <= 12_000, "a model reads the list in each conversation"


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_each_capability_alone_allows_its_tools(capability: str) -> None:
    allowed = allowed_by((capability,))
    kinds = [KINDS[kind] for tool in TOOLS if tool.capability == capability for kind in tool.kinds.values()]
    assert allowed["evaluate_enabled"] is any(kind.runs_script for kind in kinds)
    assert allowed["commands_enabled"] is any(kind.uses_protocol for kind in kinds)
    assert (allowed["files"] is not None) is (capability == "files")


@pytest.mark.parametrize("command", [mcp, serve])
def test_help_lists_all_capabilities(command: click.Command) -> None:
    text = " ".join(command.get_help(click.Context(command)).split())
    text = text.replace("comma- separated", "comma-separated")
    assert f"comma-separated: {FURTHER_TOOLS}" in text
    assert set(FURTHER_TOOLS.split(", ")) == set(CAPABILITIES) - {"core"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("clik", "no tool 'clik'; did you mean the tool click? The tools are navigate, "),
        ("browser_click", "did you mean the tool click?"), ("back", 'did you mean the tool navigate with action "back"?'),
        ("newTab", 'did you mean the tool tabs with action "new"?'), ("new_tab", 'the tool tabs with action "new"'),
        ("evaluate", "no tool 'evaluate' here: the tool evaluate needs the capability 'scripts'. Ask the user to start "),
        ("browser_evaluate", "the tool evaluate needs the capability 'scripts'"), ("evalute", "cdpengine mcp --caps scripts"),
        ("cookies", "--mcp-capabilities storage"), ("measure", "needs the capability 'performance'"),
        ("nonsense", "no tool 'nonsense'; the tools are navigate, "), ("", "no tool ''; the tools are"),
    ],
)  # fmt: skip
def test_an_unknown_tool_is_explained(name: str, expected: str) -> None:
    assert expected in explain_unknown(name, [tool.name for tool in TOOLS if tool.capability == "core"])
