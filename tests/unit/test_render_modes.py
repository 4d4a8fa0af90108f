"""Every mode: its form, and safety from forged lines and refs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator

import pytest
import yaml
from hypothesis import given, settings
from node_trees import DOCUMENTS, refs_of, rendered, shop
from snapshot_trees import REPLIES, encoded, parsed, recorded

from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.ax_modes import to_json
from cdpengine._snapshot.render.lines import Mode, SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import decode_ax_tree
from cdpengine._snapshot.text import python_text, yaml_text
from cdpengine.errors import InvalidArgumentError

FRAME = Document(
    [Node("link", "interactive", "Win", url="http://ads.test/win?x=1"), Node("text", "text", "now")],
    url="http://ads.test/frame",
)


def frame() -> Document:
    roots = [Node(node.role, node.kind, node.name, url=node.url) for node in FRAME.roots]
    return Document(roots, url=FRAME.url)


# --- the form of each mode ----------------------------------------------------------------------------


def test_role_shows_frames_with_their_own_addresses() -> None:
    assert rendered(shop(1, frame=frame())).text.splitlines() == [
        '- list "Items" [ref=e1]',
        "  - listitem",
        '    - link "Item 0" [ref=e2] [url="/p/0"]',
        '    - text: "in stock"',
        '    - button "Buy 0" [ref=e3]',
        '- iframe "Ad" [ref=e4] [url="http://ads.test/frame"]',
        '  - link "Win" [ref=e5] [url="/win?x=1"]',
        '  - text: "now"',
    ]


@pytest.mark.parametrize(
    ("mode", "silent", "clickable"),
    [
        ("role", '- iframe "Ad" [ref=e1] [frame not responding]', '- generic "Go" [ref=e2] [clickable]'),
        ("ai", '- iframe "Ad" [ref=e1] [frame not responding]', '- generic "Go" [ref=e2] [cursor=pointer]'),
        ("numbered", '[1] iframe "Ad" (frame not responding)', '[2] generic "Go" (clickable)'),
        ("webarena", "[1] iframe 'Ad' remark: 'frame not responding'", "[2] generic 'Go'"),
    ],
)
def test_silent_frames_and_clickable_things(mode: Mode, silent: str, clickable: str) -> None:
    roots = [
        Node("iframe", "interactive", "Ad", backend_node_id=1, remark="frame not responding"),
        Node("generic", "structural", "Go", backend_node_id=2, clickable=True),
    ]
    lines = rendered(Document(roots), mode=mode).text.splitlines()
    assert lines[:2] == [silent, clickable]


def test_interactive_keeps_clickable_elements() -> None:
    roots = [
        Node("generic", "structural", "Go", backend_node_id=2, clickable=True),
        Node("text", "text", "x"),
    ]
    for mode in ("role", "ai", "numbered"):
        assert len(rendered(Document(roots), mode=mode, interactive=True).text.splitlines()) == 1


def test_ai() -> None:
    roots = [
        Node("heading", "content", "Shop: all", (("level", 1),), backend_node_id=1),
        Node(
            "textbox",
            "interactive",
            "Name",
            (("focused", True),),
            value="Ada",
            placeholder="Your name",
            backend_node_id=2,
        ),
        Node("textbox", "interactive", "Age", value="30", backend_node_id=3),
        Node(
            "link",
            "interactive",
            "Home",
            url="http://shop.test/home",
            backend_node_id=4,
            children=[Node("text", "text", "the #1")],
        ),
        Node("paragraph", "structural", children=[Node("text", "text", "Hello, world")]),
        Node(
            "list",
            "structural",
            children=[Node("listitem", "content", children=[Node("text", "text", "yes")])],
        ),
    ]
    text = rendered(Document(roots, url="http://shop.test/"), mode="ai").text
    assert text.splitlines() == [
        "- 'heading \"Shop: all\" [ref=e1] [level=1]'",
        '- textbox "Name" [ref=e2] [active]:',
        "  - /placeholder: Your name",
        "  - text: Ada",
        '- textbox "Age" [ref=e3]: "30"',
        '- link "Home" [ref=e4]:',
        "  - /url: /home",
        '  - text: "the #1"',
        "- paragraph: Hello, world",
        "- list:",
        '  - listitem: "yes"',
    ]
    assert yaml.safe_load(text)[3] == {'link "Home" [ref=e4]': [{"/url": "/home"}, {"text": "the #1"}]}


def test_ai_keeps_long_names_whole() -> None:
    name = "x: 'y' " * 1500
    node = Node(
        "list", "content", name.strip(), backend_node_id=1, children=[Node("button", "interactive", "a")]
    )
    ((key, children),) = yaml.safe_load(rendered(Document([node]), mode="ai").text)[0].items()
    assert len(key) < 1024
    assert key.endswith('…" [ref=e1]')
    assert children == [{"/name": name.strip()}, 'button "a"']


def test_numbered() -> None:
    assert rendered(shop(1, frame=frame()), mode="numbered").text.splitlines() == [
        '[1] list "Items"',
        "  listitem",
        '    [2] link "Item 0" url="/p/0"',
        '    text "in stock"',
        '    [3] button "Buy 0"',
        '[4] iframe "Ad" url="http://ads.test/frame"',
        '  [5] link "Win" url="/win?x=1"',
        '  text "now"',
    ]


def ax_document(name: str) -> Document:
    ax = recorded(name)
    document = fold(ax, frame_id="F")
    document.ax = ax
    return document


def test_webarena() -> None:
    lines = rendered(ax_document("login"), mode="webarena").text.splitlines()
    assert lines[0].startswith("RootWebArea '")
    assert re.fullmatch(
        r"\t+\[\d+\] textbox 'Password' required: True",
        next(x for x in lines if "Password'" in x and "textbox" in x),
    )
    assert not [
        line for line in lines if "focusable" in line or "InlineTextBox" in line or "\u2022\u2022" in line
    ]
    assert "\tStaticText '" in "\n".join(lines)


def test_webarena_numbers_are_those_of_the_refs() -> None:
    document = ax_document("shop")
    shown = rendered(document, mode="webarena")
    numbers = re.findall(r"^\t*\[(\d+)\] ", shown.text, re.MULTILINE)
    assert sorted(f"e{number}" for number in numbers) == sorted(ref.id for ref in refs_of(document).values())


def test_aria_shows_ids_and_ignored_nodes_on_request() -> None:
    document = ax_document("login")
    assert document.ax is not None
    whole = rendered(document, mode="aria", ignored=True).text.splitlines()
    assert len(whole) == len(document.ax.nodes)
    assert [line for line in whole if re.search(r" \[backend=\d+\] \[ignored=\w+", line)]
    without = rendered(document, mode="aria").text
    assert len(without.splitlines()) == sum(not node.ignored for node in document.ax.nodes)
    assert "hunter2" not in without
    assert "\u2022\u2022" not in without
    assert "[value=hidden]" in without


def test_aria_as_json() -> None:
    document = ax_document("widgets")
    refs = refs_of(document)
    nodes = to_json(document, refs, ignored=True)
    assert document.ax is not None
    assert json.loads(json.dumps(nodes)) == nodes
    assert len(nodes) == len({node.node_id for node in document.ax.nodes})
    assert {node["ref"] for node in nodes} == {None, *(ref.id for ref in refs.values())}
    assert [node for node in nodes if node["ignoredReasons"]]
    assert len(to_json(document, refs)) == len(
        {node.node_id for node in document.ax.nodes if not node.ignored}
    )


def test_trees_of_frames_stand_below_their_iframe() -> None:
    outer, inner = ax_document("frames"), ax_document("login")
    owner = next(node for node in walk(outer.roots) if node.role == "iframe")
    owner.document, owner.children = inner, inner.roots
    for mode in ("aria", "webarena"):
        shown = rendered(outer, mode=mode)
        alone = rendered(ax_document("login"), mode=mode)
        assert shown.text.count("RootWebArea") == 2
        assert sum("Password" in line for line in shown.text.splitlines()) == sum(
            "Password" in line for line in alone.text.splitlines()
        )


def test_a_frame_without_a_tree_is_shown_by_its_nodes() -> None:
    text = rendered(shop(1), mode="aria").text
    assert '- button "Buy 0" [ref=e3]' in text
    assert text.endswith("# this document is not shown from the accessibility tree, but from the source ax")


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "html"},
        {"ignored": True},
        {"mode": "aria", "compact": True},
        {"mode": "webarena", "interactive": True},
    ],
)
def test_options_without_effect_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        SnapshotOptions(**options)  # type: ignore[arg-type]


# --- no forged lines -----------------------------------------------------------------------------------

_JSON_STRING = r'"(?:[^"\\\n]|\\.)*"'
_STATE = rf" \[(?:{_JSON_STRING}|[A-Za-z][A-Za-z0-9 .,'=+-]*)(?:=(?:{_JSON_STRING}|[A-Za-z0-9.,+-]+))?\]"
_AI = re.compile(
    rf" *- (?P<key>[A-Za-z0-9-]+(?: {_JSON_STRING})?(?: \[ref=(?P<ref>e\d+)\])?(?:{_STATE})*)(?:$|:$|: \S.*)"
)
_AI_QUOTED = re.compile(r" *- '(?P<quoted>(?:[^'\n]|'')*)'(?:$|:$|: \S.*)")
_AI_OTHER = re.compile(r' *- (?:/[a-z]+|text|"[a-z]+"): \S.*| *- "[a-z]+":?')
_ARIA = re.compile(rf" *- [A-Za-z][A-Za-z0-9-]*(?: {_JSON_STRING})?(?: \[ref=(?P<ref>e\d+)\])?(?:{_STATE})+")
_NUMBERED = re.compile(
    rf" *(?:\[(?P<ref>\d+)\] )?[A-Za-z][A-Za-z0-9-]*(?: {_JSON_STRING})?(?: [a-z]+={_JSON_STRING})*"
    rf"(?: \((?:{_JSON_STRING}|[^\"()])*\))?(?:: {_JSON_STRING})?"
)
_PYTHON_STRING = r"""(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_WEBARENA = re.compile(
    rf"\t*(?:\[(?P<ref>\d+)\] )?[A-Za-z][A-Za-z0-9-]* {_PYTHON_STRING}"
    rf"(?: (?:[A-Za-z][A-Za-z0-9-]*|{_PYTHON_STRING}): (?:{_PYTHON_STRING}|[A-Za-z0-9.+-]+))*"
)


def lines_of(text: str) -> Iterator[str]:
    assert text.split("\n") == text.splitlines()
    assert text.encode()
    assert not set(text) & set("\u202e\u2066\u200f\x1b\x00\u2028\ud800")
    return (line for line in text.split("\n") if not line.startswith("# "))


def strict(pattern: re.Pattern[str]) -> Callable[[str], tuple[int, list[str]]]:
    def read(text: str) -> tuple[int, list[str]]:
        refs, count = [], 0
        for line in lines_of(text):
            match = pattern.fullmatch(line)
            assert match is not None, line
            count += 1
            if match["ref"]:
                refs.append("e" + match["ref"].lstrip("e"))
        return count, refs

    return read


def strict_ai(text: str) -> tuple[int, list[str]]:
    """Parse as lines and as YAML. Both must find the same refs."""
    refs, count = [], 0
    for line in lines_of(text):
        if _AI_OTHER.fullmatch(line) is not None:
            count += re.match(r" *- (text|\"null\")", line) is not None
            continue
        quoted = _AI_QUOTED.fullmatch(line)
        match = _AI.fullmatch("- " + quoted["quoted"].replace("''", "'")) if quoted else _AI.fullmatch(line)
        assert match is not None, line
        count += 1
        if match["ref"]:
            refs.append(match["ref"])
    return count, refs


def yaml_refs(text: str) -> list[str]:
    found: list[str] = []
    stack = [yaml.load(text, Loader=yaml.CSafeLoader)]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(reversed(item))
        elif isinstance(item, dict):
            ((key, inside),) = item.items()
            if not re.fullmatch("text|/[a-z]+", key):
                if match := _AI.fullmatch("- " + key):
                    found += [match["ref"]] if match["ref"] else []
                else:
                    raise AssertionError(key)
                if isinstance(inside, list):
                    stack.append(inside)
        elif isinstance(item, str):
            match = _AI.fullmatch("- " + item)
            assert match is not None, item
            found += [match["ref"]] if match["ref"] else []
    return found


def entries(document: Document) -> int:
    """Count the nodes with their own lines: all except a text that is the only content of its parent."""
    nodes = list(walk(document.roots))
    inline = sum(
        len(node.children) == 1 and node.children[0].kind == "text" for node in nodes if node.kind != "text"
    )
    return len(nodes) - inline


def read_role(text: str) -> tuple[int, list[str]]:
    lines = list(lines_of(text))
    pattern = re.compile(
        rf" *- [a-z-]+(?: {_JSON_STRING})?(?: \[ref=(?P<ref>e\d+)\])?(?:{_STATE})*(?:: {_JSON_STRING})?"
    )
    matches = [pattern.fullmatch(line) for line in lines]
    assert None not in matches, lines
    return len(lines), [match["ref"] for match in matches if match and match["ref"]]


@settings(deadline=None)
@given(DOCUMENTS)
def test_no_page_forges_a_line_or_a_ref(document: Document) -> None:
    wanted = [ref.id for ref in refs_of(document).values()]
    readers: dict[Mode, Callable[[str], tuple[int, list[str]]]] = {
        "role": read_role,
        "numbered": strict(_NUMBERED),
        "aria": strict(_ARIA),
        "webarena": strict(_WEBARENA),
    }
    for mode, read in readers.items():
        shown = rendered(document, mode=mode)
        assert [ref.id for ref in shown.listed] == wanted
        assert shown.lines == shown.text.count("\n") + 1
        count, refs = read(shown.text)
        assert refs == wanted, mode
        if mode in ("role", "numbered"):
            assert count == entries(document)
        elif mode == "aria":
            assert count == sum(1 for _ in walk(document.roots))


@settings(deadline=None, max_examples=40)
@given(DOCUMENTS)
def test_ai_is_yaml_for_any_page_text(document: Document) -> None:
    wanted = [ref.id for ref in refs_of(document).values()]
    for options in ({}, {"interactive": True}, {"compact": True}, {"max_depth": 1}, {"max_chars": 700}):
        shown = rendered(document, mode="ai", **options)
        refs = [ref.id for ref in shown.listed]
        assert yaml_refs(shown.text) == strict_ai(shown.text)[1] == refs
        assert refs == wanted or options


@given(REPLIES)
def test_any_accessibility_tree_reads_back(reply: object) -> None:
    ax = decode_ax_tree(encoded(reply))
    document = fold(ax)
    document.ax = ax
    refs = RefTable().assign([document])
    readers: dict[Mode, Callable[[str], tuple[int, list[str]]]] = {
        "aria": strict(_ARIA),
        "webarena": strict(_WEBARENA),
    }
    for mode, read in readers.items():
        shown = render(document, refs, SnapshotOptions(mode=mode))
        if not shown.text.startswith("# nothing"):
            assert sorted(read(shown.text)[1]) == sorted(ref.id for ref in shown.listed)


@settings(deadline=None, max_examples=30)
@given(DOCUMENTS)
def test_quotes_of_each_kind_read_back(document: Document) -> None:
    for node in walk(document.roots):
        name = node.name
        assert ast.literal_eval(python_text(name)) == name
        halves = re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", name)
        assert yaml.safe_load(f"- {yaml_text(name)}") == [halves]


def test_the_role_mode_parses_by_its_own_rule() -> None:
    assert [line.ref for line in parsed(rendered(shop(2)).text) if line.ref] == ["e1", "e2", "e3", "e4", "e5"]
