"""Parts that documents share: their lines and refs equal the lines and refs of a newly created document.

A random walk changes a page: rows change, appear, disappear and swap places, names repeat, and rows contain
links, texts, states and frames. Each document shares the nodes of unchanged rows. A second document of the
same content shares no nodes and has a separate table of refs.
"""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Callable, Sequence

import attrs
import msgspec
import pytest

from cdpengine._snapshot.node import Document, Node, SharedNodes
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.lines import RenderedPart, SnapshotOptions
from cdpengine._snapshot.render.render import RenderedNodes, render

OPTIONS = (
    SnapshotOptions(),
    SnapshotOptions(interactive=True),
    SnapshotOptions(compact=True),
    SnapshotOptions(max_depth=2),
    SnapshotOptions(mode="ai"),
    SnapshotOptions(mode="numbered"),
    SnapshotOptions(refs="all"),
    SnapshotOptions(max_chars=400),
)

NAMES = ("Buy", "Buy", "Buy", "Sell", "Details", 'quoted "name"', "")


@attrs.define(eq=False)
class Row:
    """One row of the page: a part with an outermost node, or two of them."""

    tops: tuple[Node, ...]


class Page:
    """Generates rows and documents at random, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = itertools.count(1)
        self.given: list[int] = []
        self.doubled = False
        self.rows = [self.row() for _ in range(self.random.randint(0, 8))]
        self.url = "https://a.example/list"
        self.shared: SharedNodes | None = None
        self.wrapped = True

    def node(self, depth: int = 0) -> Node:
        chosen = self.random
        role = chosen.choice(("button", "link", "heading", "listitem", "generic", "text", "checkbox"))
        name = chosen.choice(NAMES)
        if role == "text":
            return Node("text", "text", name or "said")
        kind = {"heading": "content", "listitem": "content", "generic": "structural"}.get(role, "interactive")
        number = next(self.numbers)
        if self.doubled and self.given and chosen.random() < 0.1:
            number = chosen.choice(self.given)  # like several images of one element
        self.given.append(number)
        node = Node(role, kind, name, backend_node_id=number)  # type: ignore[arg-type]
        if role == "link":
            node.url = chosen.choice(
                ("https://a.example/list#x", "https://a.example/cart", "https://b.example/")
            )
        if chosen.random() < 0.2:
            node.states = (("checked", True), ("level", 2))
        if chosen.random() < 0.1:
            node.description = chosen.choice(("Buy", "a description"))
        if chosen.random() < 0.1:
            node.clickable = True
        if depth < 3:
            node.children = [self.node(depth + 1) for _ in range(chosen.choice((0, 0, 1, 2, 3)))]
        if chosen.random() < 0.03:
            node.document = Document(node.children, "https://c.example/frame", frame_id="inner")
        elif chosen.random() < 0.02:
            node.remark = "frame not responding"
        return node

    def row(self) -> Row:
        return Row(tuple(self.node() for _ in range(self.random.choice((1, 1, 1, 2)))))

    def change(self) -> None:
        """Make one random change to the page."""
        rows, chosen = self.rows, self.random
        what = chosen.choice(("replace", "add", "remove", "move", "nothing", "address", "many"))
        if what == "add" or not rows:
            rows.insert(chosen.randint(0, len(rows)), self.row())
        elif what == "remove":
            del rows[chosen.randrange(len(rows))]
        elif what == "move":
            rows.insert(chosen.randrange(len(rows)), rows.pop(chosen.randrange(len(rows))))
        elif what == "replace":
            rows[chosen.randrange(len(rows))] = self.row()
        elif what == "address":
            self.url = chosen.choice(("https://a.example/list", "https://b.example/other"))
        elif what == "many":
            rows[:] = [row if chosen.random() < 0.5 else self.row() for row in rows]

    def between(self, tops: Sequence[Node]) -> list[Node]:
        """Return the outermost nodes of parts, with other nodes between them that are new in each document."""
        children: list[Node] = []
        for top in tops:
            children.append(top)
            if self.wrapped and self.random.random() < 0.2:
                number = 1_000_000 + len(children)
                if self.doubled and self.given and self.random.random() < 0.3:
                    number = self.random.choice(self.given)
                inside = [Node("button", "interactive", "Between", backend_node_id=number)]
                children.append(Node("group", "structural", "", children=inside))
        return children

    def document(self) -> Document:
        """Return the current page with the earlier nodes in its rows, below a trunk that is new each time."""
        tops = [top for row in self.rows for top in row.tops]
        items = Node("list", "structural", "", children=self.between(tops))
        trunk = Node("main", "structural", "Stock", backend_node_id=0, children=[items])
        roots = (
            [Node("text", "text", "before"), trunk]
            if self.wrapped and self.random.random() < 0.8
            else [items]
        )
        shared = SharedNodes(tops=set(tops), framed=True)
        if self.shared is not None:
            shared.memos = self.shared.memos
        self.shared = shared
        return Document(
            roots, self.url, frame_id="F", loader_id="L", session_id="S", renderer_id="R", shared=shared
        )


def copied(nodes: Sequence[Node]) -> list[Node]:
    return [
        msgspec.structs.replace(
            node,
            children=(children := copied(node.children)),
            document=None if node.document is None else attrs.evolve(node.document, roots=children),
        )
        for node in nodes
    ]


def alone(document: Document) -> Document:
    """Return a document of the same content that shares nothing with any other."""
    return attrs.evolve(document, roots=copied(document.roots), shared=None)


@pytest.mark.parametrize("seed", range(60))
def test_a_walk_through_a_changing_page(seed: int) -> None:
    page, table, other = Page(seed), RefTable(), RefTable()
    option: Callable[[], SnapshotOptions] = lambda: page.random.choice(OPTIONS)  # noqa: E731
    for _ in range(25):
        page.change()
        document = page.document()
        beside = alone(document)
        options = option()
        every = options.refs == "all"
        refs, expected = table.assign([document], every=every), other.assign([beside], every=every)
        assert list(refs.values()) == list(expected.values())
        for ref in refs.values():
            assert table.alternatives(ref, {"L"}) == other.alternatives(ref, {"L"})
        seen, wanted = render(document, refs, options), render(beside, expected, options)
        assert seen.text == wanted.text
        assert seen.listed == wanted.listed
        assert (seen.interactive, seen.gaps, seen.unshown) == (
            wanted.interactive,
            wanted.gaps,
            wanted.unshown,
        )
        assert len(seen.nodes) == len(wanted.nodes)


@pytest.mark.parametrize("seed", range(30))
def test_refs_of_nodes_that_share_an_element_and_of_parts_read_alone(seed: int) -> None:
    page, table, other = Page(seed), RefTable(), RefTable()
    page.doubled = True
    known: set[str] = set()
    for _ in range(40):
        page.change()
        document = page.document()
        beside = alone(document)
        partial = page.random.random() < 0.2
        for _ in range(page.random.choice((1, 1, 2))):
            refs = table.assign([document], partial=partial)
            expected = other.assign([beside], partial=partial)
            assert list(refs.values()) == list(expected.values())
            for ref in refs.values():
                known.add(ref.id)
        for ref_id in known:
            ref = table.lookup(ref_id)
            assert ref == other.lookup(ref_id)
            assert table.alternatives(ref, {"L"}) == other.alternatives(ref, {"L"})
            assert table.successor(ref, "L") == other.successor(ref, "L")


@pytest.mark.parametrize("seed", range(20))
def test_a_table_that_drops_refs_never_assigns_them_again(seed: int) -> None:
    page, table, other = Page(seed), RefTable(max_refs=12), RefTable(max_refs=12)
    for number in range(25):
        page.change()
        document = page.document()
        what = page.random.random()
        if what < 0.3:  # a frame, or another source, has so many nodes that all of these are dropped
            strangers = [
                Node("button", "interactive", "Far", backend_node_id=100_000 + 20 * number + each)
                for each in range(20)
            ]
            for each in (table, other):
                each.assign([Document(copied(strangers), frame_id="G", loader_id="M", renderer_id="R")])
        elif what < 0.5:
            document.session_id = page.random.choice(("S", "S2"))
        elif what < 0.6:
            document.renderer_id = "R2"
        refs, expected = table.assign([document]), other.assign([alone(document)])
        assert list(refs.values()) == list(expected.values())
        assert len(table) == len(other)
        for ref in refs.values():
            assert table.lookup(ref.id) is ref


def test_lines_of_a_part_are_written_once() -> None:
    page, table = Page(1), RefTable()
    page.wrapped = False
    row = Node(
        "listitem", "content", "", children=[Node("button", "interactive", "Buy", backend_node_id=900_000)]
    )
    page.rows = [Row((row,)), Row((Node("button", "interactive", "Sell", backend_node_id=900_001),))]
    first = page.document()
    render(first, table.assign([first]), SnapshotOptions())
    lines = lines_of(row, first)
    page.rows.append(Row((Node("button", "interactive", "More", backend_node_id=900_002),)))
    second = page.document()
    render(second, table.assign([second]), SnapshotOptions())
    assert lines_of(row, second) is lines


def lines_of(node: Node, document: Document) -> RenderedPart:
    assert document.shared is not None
    rendered = document.shared.recall(RenderedNodes)
    assert rendered is not None
    return rendered.parts[SnapshotOptions()][node]


def test_shared_nodes_are_pickled_without_the_results_of_this_process() -> None:
    page, table = Page(2), RefTable()
    document = page.document()
    options = SnapshotOptions()
    text = render(document, table.assign([document]), options).text
    copy = pickle.loads(pickle.dumps(document))
    assert copy.shared.memos == {}
    assert render(copy, RefTable().assign([copy]), options).text == text
