"""SnapshotDiff: previous + diff = current, always; and a small readable diff for a small change."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from node_trees import DOCUMENTS, rendered, shop
from snapshot_trees import snapshot_of, tree

from cdpengine._snapshot.diff import apply, diff
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.render.lines import Mode, SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.snapshot import Snapshot, SnapshotStats, build_snapshot
from cdpengine.errors import InvalidArgumentError

LINES = st.lists(
    st.builds(
        lambda indent, body: indent + body,
        st.sampled_from(["", "  ", "    ", "\t", " \t", "      "]),
        st.sampled_from(
            [
                "- a",
                "- b",
                "- listitem",
                '- button "x" [ref=e1]',
                '- button "y" [ref=e1]',
                "[2] link 'a' ",
                '- text: "1"',
            ]
            + [f'- link "n" [ref=e{number}]' for number in range(2, 9)]
            + ["", "# 3 lines", "~", "@1 x", "+ y"]
        )
        | st.text(st.characters(blacklist_characters="\n"), max_size=4),
    ),
    max_size=14,
)


@settings(max_examples=200)
@given(LINES, LINES)
def test_previous_and_diff_give_current(before: list[str], after: list[str]) -> None:
    previous, current = "\n".join(before), "\n".join(after)
    changes = diff(previous, current)
    assert apply(previous, changes.text) == changes.apply(previous) == current
    assert bool(changes) == (previous != current)


@settings(max_examples=150)
@given(LINES, st.randoms(use_true_random=False), st.integers(1, 4))
def test_similar_texts(before: list[str], random: object, edits: int) -> None:
    import random as standard

    assert isinstance(random, standard.Random)
    after = list(before)
    for _ in range(edits):
        if len(after) < 2:
            break
        start, end = sorted(random.sample(range(len(after) + 1), 2))
        kind = random.randrange(4)
        if kind == 0:
            del after[start:end]
        elif kind == 1:
            block = after[start:end]
            del after[start:end]
            at = random.randrange(len(after) + 1)
            after[at:at] = block
        elif kind == 2:
            after[start:end] = ["  " + line for line in after[start:end]]
        else:
            after[start] += "!"
    previous, current = "\n".join(before), "\n".join(after)
    assert diff(previous, current).apply(previous) == current


@settings(deadline=None, max_examples=30)
@given(DOCUMENTS, DOCUMENTS, st.sampled_from(["role", "ai", "numbered", "aria", "webarena"]))
def test_any_two_snapshots(one: Document, other: Document, mode: Mode) -> None:
    previous, current = rendered(one, mode=mode).text, rendered(other, mode=mode).text
    assert diff(previous, current).apply(previous) == current


# --- the form of a diff -----------------------------------------------------------------------------------

BEFORE = rendered(shop(200)).text


def steps(current: str, previous: str = BEFORE) -> list[str]:
    changes = diff(previous, current)
    assert changes.apply(previous) == current
    return changes.text.splitlines()[1:]


def test_nothing_changed() -> None:
    changes = diff(BEFORE, BEFORE)
    assert not changes
    assert changes.text.endswith(": nothing changed")
    assert changes.apply(BEFORE) == BEFORE


def test_a_change() -> None:
    now = BEFORE.replace('"Buy 100" [ref=e203]', '"Sold 100" [ref=e203] [disabled]')
    assert steps(now) == ["@404 - listitem", '~     - button "Sold 100" [ref=e203] [disabled]']
    changes = diff(BEFORE, now)
    assert changes.changed == (
        ('    - button "Buy 100" [ref=e203]', '    - button "Sold 100" [ref=e203] [disabled]'),
    )
    assert len(changes.text) < len(BEFORE) / 50


def test_a_changed_text_without_a_ref() -> None:
    lines = BEFORE.splitlines()
    lines[7] = '    - text: "sold out"'
    assert steps("\n".join(lines)) == ["@7 - listitem", '~     - text: "sold out"']


def rows() -> tuple[str, list[list[str]]]:
    lines = BEFORE.splitlines()
    return lines[0], [lines[at : at + 4] for at in range(1, len(lines), 4)]


def joined(head: str, items: list[list[str]]) -> str:
    return "\n".join([head, *(line for item in items for line in item)])


def test_a_new_row_and_a_removed_row() -> None:
    head, items = rows()
    items.insert(5, ["  - listitem", '    - link "New" [ref=e900]', '    - button "Buy new" [ref=e901]'])
    del items[101]
    assert steps(joined(head, items)) == [
        '@21 - list "Items" [ref=e1]',
        "+   - listitem",
        '+     - link "New" [ref=e900]',
        '+     - button "Buy new" [ref=e901]',
        '@401 - list "Items" [ref=e1]',
        "-4   - listitem",
    ]


def test_a_moved_row() -> None:
    head, items = rows()
    items.insert(5, items.pop(150))
    assert steps(joined(head, items)) == [
        '@21 - list "Items" [ref=e1]',
        "^602,4   - listitem",
        '@601 - list "Items" [ref=e1]',
        "v4   - listitem",
    ]


def test_a_wrapped_tree() -> None:
    assert steps("- main\n" + "\n".join("  " + line for line in BEFORE.splitlines())) == [
        "+ - main",
        '>801   - list "Items" [ref=e1]',
    ]
    wrapped = "- main\n" + "\n".join("  " + line for line in BEFORE.splitlines())
    assert len(steps(BEFORE, wrapped)) == 2


def test_shifted_counting_is_one_step() -> None:
    before = [f'- button "Buy" [ref=e{n + 1}]' + (f" [nth={n}]" if n else "") for n in range(100)]
    after = [f'- button "Buy" [ref=e{n + 2}]' + (f" [nth={n}]" if n else "") for n in range(99)]
    assert steps("\n".join(after), "\n".join(before)) == ['- - button "Buy" [ref=e1]', 'n-1 - button "Buy"']
    assert len(steps("\n".join(before), "\n".join(after))) == 2


@settings(deadline=None, max_examples=150)
@given(*[st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 9), st.integers(0, 3)), max_size=9)] * 2)
def test_counting_of_any_kind(before: list[tuple[str, int, int]], after: list[tuple[str, int, int]]) -> None:
    previous, current = (
        "\n".join(
            f'- button "{name}" [ref=e{ref}]' + (f" [nth={nth}]" if nth else "") for name, ref, nth in lines
        )
        for lines in (before, after)
    )
    assert diff(previous, current).apply(previous) == current


def test_a_name_cannot_imitate_a_ref() -> None:
    previous = '- text: "[ref=e1]"\n- button "a [ref=e2]" [ref=e3]'
    now = '- button "b [ref=e2]" [ref=e3]\n- text: "[ref=e1] "'
    assert diff(previous, now).apply(previous) == now


# --- diffs that do not fit --------------------------------------------------------------------------------


def test_a_diff_of_another_text_is_refused() -> None:
    changes = diff(BEFORE, BEFORE + "\n- x")
    with pytest.raises(InvalidArgumentError, match="previous"):
        changes.apply(BEFORE + " ")
    with pytest.raises(InvalidArgumentError, match="diff"):
        apply(BEFORE, "no diff")


@pytest.mark.parametrize("step", ["~ x", "@7000 y", "^900,5 - y", "? z", "", "-x y", ">9000 - y", "^1 x"])
def test_a_changed_diff_is_refused(step: str) -> None:
    with pytest.raises(InvalidArgumentError, match="diff"):
        apply(BEFORE, diff(BEFORE, BEFORE + "\n- x").text + "\n" + step)


# --- snapshots -------------------------------------------------------------------------------------------


def taken(document: Document, mode: Mode = "role", since: Snapshot | None = None) -> Snapshot:
    options = SnapshotOptions(mode=mode)
    rendering = render(document, {}, options)
    stats = SnapshotStats(
        lines=rendering.lines, chars=0, refs=0, interactive=0, nodes_seen=0, source="dom", milliseconds={}
    )
    return build_snapshot(rendering, document, {}, stats, options, since=since)


def test_a_snapshot_since_another() -> None:
    before = taken(shop(3))
    document = shop(3)
    document.roots.append(Node("text", "text", "new"))
    now = taken(document, since=before)
    assert before.diff is None
    assert now.diff is not None
    assert now.diff.added == ('- text: "new"',)
    assert now.diff.apply(before.text) == now.text == str(now)
    assert now.to_json()["diff"] == now.diff.text
    with pytest.raises(InvalidArgumentError, match="since"):
        taken(document, "ai", since=before)


def test_refs_of_a_snapshot_as_json() -> None:
    shown = snapshot_of(tree(("button", "Buy"))).to_json()
    assert shown["refs"] == {
        "e1": {"role": "button", "name": "Buy", "nth": 0, "frameId": "FRAME", "backendNodeId": 11}
    }
    assert "nodes" not in shown
    whole = snapshot_of(tree(("button", "Buy")), mode="aria").to_json()
    assert [node["role"] for node in whole["nodes"]] == ["RootWebArea", "button"]
