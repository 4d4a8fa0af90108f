"""The journal of a session's events, and the part of it that one client receives."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
import trio.testing

from cdpengine.service.events.journal import LONGEST_TEXT, Journal
from cdpengine.service.events.listening import EVENTS, EventFilter, EventsResponse


def fill(journal: Journal, count: int, name: str = "console", target_id: str = "T") -> None:
    for index in range(count):
        journal.add(name, target_id, {"text": f"{index}"})


def texts(journal: Journal, after: int) -> tuple[int, list[str]]:
    lost, entries = journal.after(after)
    return lost, [json.loads(entry.data)["text"] for entry in entries]


@pytest.mark.parametrize("after", range(8))
def test_dropped_entries_are_counted_and_the_rest_follows_in_order(after: int) -> None:
    journal = Journal(most_entries=3)
    fill(journal, 7)
    lost, found = texts(journal, after)
    assert lost + len(found) == 7 - after, "each entry is given or counted"
    assert found == [str(number) for number in range(7)][7 - len(found) :]
    assert len(found) == min(3, 7 - after)


def test_large_entries_make_room_and_a_single_one_stays() -> None:
    journal = Journal(most_bytes=1000)
    fill(journal, 3)
    journal.add("console", "T", {"text": "x" * 2000})
    assert journal.after(0)[0] == 3
    assert len(journal.after(0)[1]) == 1


def test_a_long_text_is_cut_and_has_the_count_of_missing_characters() -> None:
    journal = Journal()
    journal.add("console", "", {"text": "é" * (LONGEST_TEXT + 7), "time": None})
    data = json.loads(journal.after(0)[1][0].data)
    assert (len(data["text"]), data["cut"]) == (LONGEST_TEXT, 7)
    assert set(data) == {"text", "cut"}


@pytest.mark.parametrize("wrong", ["", "x", "-", "abc-1", "-1", "{key}", "{key}-", "{key}-x", "{key}-²", "{key}--1", "{key}-" + "9" * 40])  # fmt: skip
def test_a_foreign_id_is_not_a_place_here(wrong: str) -> None:
    journal = Journal()
    fill(journal, 3)
    assert journal.number_of(wrong.replace("{key}", journal.key)) is None
    assert journal.number_of(journal.id_of(2)) == 2
    assert journal.number_of(journal.id_of(99)) == 3, "not an id from the future"
    assert Journal().number_of(journal.id_of(2)) is None


# --- events for a client ------------------------------------------------------------------------------------


def parse(sent: bytes) -> list[tuple[str, str, Any]]:
    """Return id, name and data of each event, as a client reads them. Comments have data None."""
    found = []
    for block in sent.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        found.append((fields["id"], fields.get("event", ""), json.loads(fields.get("data", "null"))))
    return found


class Connection:
    """An ASGI connection that keeps received messages, and accepts them when the test allows it."""

    def __init__(self) -> None:
        self.sent = bytearray()
        self.may_take = trio.Event()
        self.may_take.set()
        self.gone = trio.Event()
        self.left = 0
        self.ended = False

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await self.may_take.wait()
        await trio.lowlevel.checkpoint()
        if message["type"] == "http.response.body":
            self.sent += message["body"]
            self.ended = not message["more_body"]

    def note_left(self) -> None:
        self.left += 1

    async def listen(self, journal: Journal, method: str = "GET", **options: Any) -> None:
        given = {"chosen": EventFilter(), "after": 0, "heartbeat": 15.0, "left": self.note_left, **options}
        response = EventsResponse(journal, **given)
        await response({"type": "http", "method": method}, self.receive, self.send)

    @property
    def events(self) -> list[tuple[str, str, Any]]:
        return [each for each in parse(bytes(self.sent)) if each[1]]


async def test_events_arrive_as_they_happen_and_the_last_one_gives_the_reason() -> None:
    journal, client = Journal(), Connection()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.listen, journal)
        for number in (1, 2):
            fill(journal, 1)
            await trio.testing.wait_all_tasks_blocked()
            assert [each[0] for each in client.events] == [f"{journal.key}-{n + 1}" for n in range(number)]
        journal.end("sessionIdle", "the session was unused")
        journal.end("serviceEnding", "too late")
    assert client.events[-1][1:] == ("end", {"reason": "sessionIdle", "message": "the session was unused"})
    assert client.ended
    assert client.left == 1


async def test_a_slow_client_delays_no_other_and_gets_a_count_of_its_losses() -> None:
    journal, slow, quick = Journal(most_entries=10), Connection(), Connection()
    async with trio.open_nursery() as nursery:
        slow.may_take = trio.Event()
        nursery.start_soon(slow.listen, journal)
        nursery.start_soon(quick.listen, journal)
        for _ in range(50):
            fill(journal, 1)
            await trio.testing.wait_all_tasks_blocked()
        assert len(quick.events) == 50
        slow.may_take.set()
        journal.end("sessionClosed", "")
    assert [each[1] for each in slow.events] == ["lost", *["console"] * 10, "end"]
    assert slow.events[0][2]["count"] == 40
    assert slow.events[0][0] == f"{journal.key}-40", (
        "a client that returns with that id continues behind the gap"
    )


async def test_a_client_that_leaves_is_forgotten() -> None:
    journal, client = Journal(), Connection()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.listen, journal)
        await trio.testing.wait_all_tasks_blocked()
        client.gone.set()
    assert client.left == 1
    cancelled = Connection()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancelled.listen, journal)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert cancelled.left == 1


async def test_comments_keep_the_connection_alive_and_renew_the_id(
    autojump_clock: trio.testing.MockClock,
) -> None:
    journal, client = Journal(), Connection()
    async with trio.open_nursery() as nursery:
        wanted = EventFilter(names=frozenset({"dialog"}))
        nursery.start_soon(lambda: client.listen(journal, chosen=wanted, heartbeat=5.0))
        fill(journal, 3)
        await trio.sleep(12)
        journal.end("sessionClosed", "")
    beats = [each[0] for each in parse(bytes(client.sent)) if not each[1]]
    assert beats == [f"{journal.key}-0", f"{journal.key}-3", f"{journal.key}-3"]
    assert [each[1] for each in client.events] == ["end"]
    assert bytes(client.sent).startswith(b": ")


async def test_only_wanted_events_are_sent_and_losses_always() -> None:
    journal, client = Journal(), Connection()
    for name, page in (("console", "A"), ("console", "B"), ("dialog", "A"), ("lost", "A"), ("download", ""), ("pageClosed", "A")):  # fmt: skip
        journal.add(name, page, {})
    wanted = EventFilter(target_id="A", names=frozenset({"console", "download"}))
    await client.listen(journal, chosen=wanted)
    assert [each[1] for each in client.events] == ["console", "lost", "download", "end"]
    assert client.events[-1][2]["reason"] == "pageClosed"


async def test_known_losses_are_sent_first() -> None:
    journal, client = Journal(), Connection()
    fill(journal, 1)
    journal.end("sessionClosed", "")
    await client.listen(journal, missed="the id belongs to a session that has ended")
    assert client.events[0][1:] == (
        "lost",
        {"count": None, "reason": "the id belongs to a session that has ended"},
    )
    assert [each[1] for each in client.events] == ["lost", "console", "end"]


async def test_a_request_for_the_headers_alone_ends() -> None:
    client = Connection()
    with trio.fail_after(1):
        await client.listen(Journal(), method="HEAD")
    assert client.ended
    assert not client.sent


async def test_no_page_text_can_forge_an_event() -> None:
    journal, client = Journal(), Connection()
    journal.add("console", "T", {"text": 'x\n\nid: 9\nevent: end\ndata: {}\n\n\r\u2028"'})
    journal.end("sessionClosed", "")
    await client.listen(journal)
    assert [each[1] for each in client.events] == ["console", "end"]


def test_every_event_is_described() -> None:
    assert all(meaning.endswith(".") for meaning in EVENTS.values())
