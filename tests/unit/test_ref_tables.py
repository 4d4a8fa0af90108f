"""RefTables: the table that a page gets, and the eviction of old tables."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cdpengine._api.ref_tables import RefTables, ref_tables
from cdpengine._launch.endpoint import browser_key
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.ref import RefNumbers
from cdpengine._snapshot.refs import RefTable
from cdpengine.errors import StaleRefError


def give(table: RefTable, count: int, start: int = 1) -> list[str]:
    nodes = [Node("button", "interactive", "Buy", backend_node_id=start + n) for n in range(count)]
    return [ref.id for ref in table.assign([Document(nodes, renderer_id="R")]).values()]


def test_a_target_of_a_browser_has_one_table() -> None:
    tables = RefTables()
    assert tables.table("B1", "T1") is tables.table("B1", "T1")
    assert tables.table("B1", "T2") is not tables.table("B1", "T1")
    assert tables.table("B2", "T1") is not tables.table("B1", "T1")
    assert len(tables) == 3


def test_of_51_targets_the_least_recently_used_is_dropped() -> None:
    tables = RefTables()
    for n in range(50):
        give(tables.table("B", f"T{n}"), 3)
    first = tables.table("B", "T0")
    tables.table("B", "T50")
    assert len(tables) == 50
    assert tables.table("B", "T0") is first
    assert first.lookup("e2").id == "e2"
    back = tables.table("B", "T1")
    with pytest.raises(StaleRefError, match="dropped long ago"):
        back.lookup("e2")
    assert give(back, 2) == ["e4", "e5"], "its numbers continue, so that no old ref names another node"


def test_open_pages_keep_their_tables() -> None:
    tables = RefTables(max_targets=2, max_refs=10)
    for n in range(60):
        tables.acquire("B", f"T{n}")
        give(tables.table("B", f"T{n}"), 3)
    assert all(tables.table("B", f"T{n}").lookup("e3").id == "e3" for n in range(60))
    for n in range(60):
        tables.release("B", f"T{n}")
        tables.table("B", "T0")
    assert len(tables) == 2
    assert tables.refs <= 10
    with pytest.raises(StaleRefError, match="its page has ended"):
        tables.table("B", "T7").lookup("e3")


def test_a_page_of_two_connections_stays_open_until_both_end() -> None:
    tables = RefTables(max_targets=1)
    tables.acquire("B", "T")
    tables.acquire("B", "T")
    give(tables.table("B", "T"), 3)
    tables.release("B", "T")
    for other in ("T1", "T2", "T3"):
        tables.table("B", other)
    assert tables.table("B", "T").lookup("e1").id == "e1"


def test_the_refs_of_all_tables_are_bounded_in_sum() -> None:
    tables = RefTables(max_refs=100)
    for n in range(5):
        give(tables.table("B", f"T{n}"), 40)
    used = tables.table("B", "T4")
    assert tables.refs == 100
    assert len(used) == 40
    with pytest.raises(StaleRefError, match="at most 100 refs of all pages"):
        tables.table("B", "T0").lookup("e1")
    assert give(tables.table("B", "T0"), 1) == ["e41"]


def test_numbers_continue_after_the_table_is_dropped() -> None:
    tables = RefTables(max_targets=1)
    give(tables.table("B", "T"), 7)
    for n in range(10_002):
        tables.table("B", f"T{n}")
    assert len(tables._retired) == 10_000
    assert give(tables.table("B", "T"), 1) == ["e8"]


def test_tables_with_shared_numbers_assign_none_twice() -> None:
    numbers, tables = RefNumbers(), RefTables()
    assert give(tables.table("B", "T1"), 2) == ["e1", "e2"]
    assert give(tables.table("B", "T1", numbers), 1, start=9) == ["e3"]
    assert give(tables.table("B", "T2", numbers), 2) == ["e4", "e5"]
    assert give(tables.table("B", "T1", numbers), 1, start=10) == ["e6"]
    with pytest.raises(StaleRefError, match=r'e4 \(button "Buy"\) is stale: it is an element of another tab'):
        tables.table("B", "T1", numbers).lookup("e4")
    numbers.end_browser()
    table = tables.table("B2", "T1", numbers)
    with pytest.raises(StaleRefError, match="its browser or session has ended") as refused:
        table.lookup("e1")
    assert refused.value.became == "foreign"
    assert give(table, 1) == ["e7"]


def test_after_the_death_of_a_browser_new_tables_count_on() -> None:
    tables = RefTables()
    give(tables.table("B1", "T1"), 3)
    give(tables.table("B1", "T2"), 7)
    tables.note_lost("B1")
    assert give(tables.table("B2", "T1"), 1) == ["e8"]
    with pytest.raises(StaleRefError):
        tables.table("B2", "T1").lookup("e2")


ID = "6b468e79-93a7-49d0-81ea-e0c10f32e00f"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"ws://127.0.0.1:9222/devtools/browser/{ID}", ID),
        (f"ws://localhost:9222/devtools/browser/{ID}", ID),
        (f"wss://gate.example/a/devtools/browser/{ID}?token=secret", ID),
        ("wss://gate.example/chrome?token=secret", "gate.example:None/chrome"),
        ("ws://user:secret@gate.example:1234/", "gate.example:1234/"),
        ("ws://127.0.0.1:9222/devtools/browser", "127.0.0.1:9222/devtools/browser"),
    ],
)
def test_identity_of_browsers(url: str, expected: str) -> None:
    assert browser_key(url) == expected


def test_each_thread_has_separate_tables() -> None:
    at_once = threading.Barrier(2)

    def work(role: str) -> tuple[int, list[str]]:
        """Assign refs and drop them, a thousand times, in the table that both threads would share."""
        table = ref_tables().table("B", "T")
        at_once.wait()
        for n in range(1_000):
            node = Node(role, "interactive", str(n), backend_node_id=n % 50 + 1)
            table.assign([Document([node], renderer_id="R")])
            table.shrink(10, "test")
        assert ref_tables().table("B", "T") is table
        return id(ref_tables()), [table.lookup(f"e{table.last_number}").role]

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(work, ["button", "link"])
    assert one[0] != other[0]
    assert (one[1], other[1]) == (["button"], ["link"])
