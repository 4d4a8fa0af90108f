"""Write what follows from the classes of the verbs: the schema, the stub, names, and tables of the documentation.

Usage: python scripts/write_verbs.py
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from cdpengine.act.commands.verbs import TABLE, option_names
from cdpengine.act.schema import make_schema
from cdpengine.act.script_language import ACTIONS
from cdpengine.act.tooling.table import CAPABILITIES, Tool
from cdpengine.act.verbs import AREAS, KINDS
from cdpengine.service.mcp_tools import TOOLS, choose_tools, input_schema

ROOT = Path(__file__).resolve().parent.parent
MARK = "<!-- verbs: {}; written by scripts/write_verbs.py, do not edit -->"
END = "<!-- verbs: end of {} -->"


def classes() -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each public class of the verbs."""
    for modules in AREAS.values():
        for module in modules:
            for name, each in vars(module).items():
                if name.startswith("_") or not isinstance(each, type) or each.__module__ != module.__name__:
                    continue
                if attrs.has(each):
                    yield module.__name__.rpartition(".")[2], name


def write_schema(_old: str) -> str:
    """Return the JSON Schema of requests and responses."""
    return json.dumps(make_schema(), indent=1) + "\n"


def write_stub(old: str) -> str:
    """Return the stub of `cdpengine.act` with the classes of the verbs."""
    kept = [
        line for line in old.splitlines() if line.startswith("from ") and not line.startswith("from .verbs.")
    ]
    kept += [f"from .verbs.{module} import {name} as {name}" for module, name in classes()]
    kept.sort(key=_import_order)
    return "\n".join([*kept, "", "__all__: list[str]", ""])


def _import_order(line: str) -> tuple[str, bool, bool, str]:
    """Return the key of ruff's order: modules, then constants, classes and functions, each in any case."""
    _from, module, _import, name, *_ = line.split()
    return module, not name.isupper(), not name[0].isupper(), name.lower()


def write_names(old: str) -> str:
    """Return the shell's client with the names of all commands, and of the flags of those that load a URL."""
    loading = {verb.name: option_names(verb) for verb in TABLE if verb.loads}
    names = {
        "VERBS": {verb.name for verb in TABLE},
        "LOADING": set(loading),
        "_FLAGS": {
            name if all(name not in valued for _, valued in loading.values()) else f"{verb} {name}"
            for verb, (flags, _) in loading.items()
            for name in flags
        },
    }
    for name, members in names.items():
        # A no-break space keeps the two words of a name in one line.
        listed = ", ".join(f'"{each}"'.replace(" ", "\xa0") for each in sorted(members))
        lines = textwrap.indent("\n".join(textwrap.wrap(f"{listed},", 100, break_on_hyphens=False)), " " * 8)
        pattern = rf"(?<=\n{name} = frozenset\(\n    \{{\n).*?(?=\n    \}}\n\)  # fmt: skip)"
        old = re.sub(pattern, lines.replace("\xa0", " "), old, count=1, flags=re.S)
    return old


def write_reference(old: str) -> str:
    """Return the reference of `cdpengine.act` with the classes of the verbs."""
    names = sorted(name for _, name in classes())
    return replace_block(old, "classes", "\n\n".join(f"::: cdpengine.act.{name}" for name in names))


def write_kinds(old: str) -> str:
    """Return the page about requests with the table of their kinds, and the actions of scripts."""
    rows = []
    for area, modules in AREAS.items():
        inside = {module.__name__ for module in modules}
        rows.append((area, [kind for kind, each in KINDS.items() if each.__module__ in inside]))
    actions = textwrap.fill(f"The actions are {', '.join(f'`{name}`' for name in ACTIONS)}.", 120)
    return replace_block(replace_block(old, "kinds", table("area", "kinds", rows)), "actions", actions)


def write_tools(old: str) -> str:
    """Return the page about MCP with the table of tools."""
    rows = [
        (
            "always" if capability == "core" else f"`{capability}`",
            [tool.name for tool in TOOLS if tool.capability == capability],
        )
        for capability in CAPABILITIES
    ]
    few, all_ = choose_tools(()), choose_tools(CAPABILITIES)
    size = (
        f"The list has {len(few)} tools in {size_of(few):,} characters, "
        f"and with all capabilities {len(all_)} in {size_of(all_):,}."
    )
    return replace_block(old, "tools", f"{table('capability', 'tools', rows)}\n\n{size}")


def size_of(tools: Sequence[Tool]) -> int:
    """Return the size of a list of tools that a model reads, in characters, rounded to hundreds."""
    each = [
        {"name": tool.name, "description": tool.meaning, "inputSchema": input_schema(tool)} for tool in tools
    ]
    return round(len(json.dumps(each, separators=(",", ":"))), -2)


def write_commands(old: str) -> str:
    """Return the page about the shell with the list of all commands."""
    names = ", ".join(f"`{verb.name}`" for verb in TABLE)
    text = textwrap.fill(f"All commands: {names}.", 120, break_on_hyphens=False)
    return replace_block(old, "commands", text)


def table(left: str, right: str, rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return a table of names in Markdown."""
    lines = [f"| {left} | {right} |", "| --- | --- |"]
    lines += [f"| {name} | {', '.join(f'`{each}`' for each in names)} |" for name, names in rows]
    return "\n".join(lines)


def replace_block(text: str, name: str, block: str) -> str:
    """Return a page with a new block between the marks of `name`."""
    begin, end = MARK.format(name), END.format(name)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    assert found and closed, f"the page lacks the marks of {name}"  # noqa: PT018 - either is a mistake of the page
    return f"{before}{begin}\n\n{block}\n\n{end}{after}"


FILES: Mapping[str, Callable[[str], str]] = {
    "docs/act-schema.json": write_schema,
    "cdpengine/act/__init__.pyi": write_stub,
    "cdpengine/shell/client.py": write_names,
    "docs/reference/act.md": write_reference,
    "docs/acting.md": write_kinds,
    "docs/mcp.md": write_tools,
    "docs/shell.md": write_commands,
}
"""The files with derived parts, and the functions that return their new text."""

if __name__ == "__main__":
    for name, write in FILES.items():
        path = ROOT / name
        old = path.read_text(encoding="utf-8")
        if (new := write(old)) != old:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {path}")
