"""Benchmark peers that hang, die, send nonsense or refuse: each gives a readable reason, and no process
remains.
"""

from __future__ import annotations

import math
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio
import trio.testing

from benchmarks.harness import peers as peers_module
from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.installed import Kind
from benchmarks.harness.leftovers import MARK, marked
from benchmarks.harness.peers import Cannot, Peer, PeerGroup, known
from benchmarks.harness.run import run_case

SCRIPT = r"""
import json, os, subprocess, sys, time
order = json.loads(sys.argv[1])
mood = order["flags"][0]
if mood == "dies at its start":
    print("no such module", file=sys.stderr)
    sys.exit(3)
print("a banner of some library", flush=True)
print(json.dumps({"ready": True, "version": "1.0", "attached": "pipe"}), flush=True)
for line in sys.stdin:
    order = json.loads(line)
    do = order["do"]
    if do == "hang":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
        print("about to hang", file=sys.stderr, flush=True)
        time.sleep(1000)
    elif do == "die":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    elif do == "cannot" or order.get("verb") == "cannot":
        print(json.dumps({"cannot": "has no such thing"}), flush=True)
    elif do == "say":
        print(json.dumps({"values": [order["value"], 2], "note": "by hand", "mb": 7}), flush=True)
    else:
        print(json.dumps({"values": []}), flush=True)
    if do == "stop":
        break
"""


@attrs.frozen
class Scripted(Kind):
    """A peer that is a script in a folder."""

    def command(self) -> list[str]:
        return [sys.executable, self.script]


@asynccontextmanager
async def group_of(folder: Path, mood: str = "") -> AsyncIterator[PeerGroup]:
    script = folder / "peer.py"
    script.write_text(SCRIPT)
    async with trio.open_nursery() as nursery:
        kinds: dict[str, Kind] = {"playwright": Scripted(str(script), "x")}
        group = PeerGroup(("playwright",), "/no/browser", (mood,), "http://127.0.0.1:1", nursery, kinds=kinds)
        yield group
        nursery.cancel_scope.cancel()
    assert not [pid for peer in group.said.values() for pid in marked(peer.mark)]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers_module, "why_not", lambda _name, _kind: "")


async def test_a_peer_reports_its_identity_and_its_times(tmp_path: Path) -> None:
    async with group_of(tmp_path) as group:
        peer = (await group.ready("say"))["playwright"]
        assert (peer.version, peer.attached) == ("1.0", "pipe")
        assert await peer.ask("say", value=1.5) == [1.5, 2]
        assert (await peer.tell("say", value=1))["mb"] == 7
        assert group.note("playwright") == "by hand"
        with pytest.raises(Cannot, match="has no such thing"):
            await peer.ask("cannot")
        assert await peer.ask("say", value=3) == [3, 2]
        await group.close()
        assert marked(peer.mark) == []


async def test_a_hung_peer_is_killed_with_its_children_and_restarted(tmp_path: Path) -> None:
    async with group_of(tmp_path) as group:
        peer = (await group.ready("say"))["playwright"]
        with pytest.raises(Cannot, match="did not answer “hang” within"):
            await peer.ask("hang", patience=0.3)
        with pytest.raises(Cannot, match="did not answer “hang” within"):
            await peer.ask("say", value=1)  # immediately after the restart
        assert (await group.ready("say"))["playwright"] is peer
        await group.close()
        assert marked(peer.mark) == []
        assert await (await group.ready("say"))["playwright"].ask("say", value=1) == [1, 2]


async def test_a_peer_that_dies_is_quoted(tmp_path: Path) -> None:
    async with group_of(tmp_path) as group:
        peer = (await group.ready("say"))["playwright"]
        with pytest.raises(Cannot, match="ended at “die”"):
            await peer.ask("die")
        await group.close()


async def test_a_peer_that_dies_at_start_is_quoted_and_abandoned_after_a_few_attempts(tmp_path: Path) -> None:
    async with group_of(tmp_path, "dies at its start") as group:
        for _ in range(peers_module.STARTS):
            peer = (await group.ready("say"))["playwright"]
            assert "ended at its start: no such module" in peer.refusal
            await group.close()
        peer = (await group.ready("say"))["playwright"]
        assert peer.refusal.startswith("failed 3 times")
        with pytest.raises(Cannot, match="failed 3 times"):
            await peer.ask("say", value=1)


async def test_a_failed_preparation_can_be_repeated_later(tmp_path: Path) -> None:
    async with group_of(tmp_path) as group:
        with pytest.raises(Cannot, match="has no such thing"):
            await (await group.ready("cannot"))["playwright"].ask("say", value=1)
        assert await (await group.ready("say"))["playwright"].ask("say", value=1) == [1, 2]


async def test_a_cancelled_case_leaves_no_process(tmp_path: Path) -> None:
    async with group_of(tmp_path) as group:
        peer = (await group.ready("say"))["playwright"]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: peer.ask("hang", patience=math.inf))
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert "interrupted" in peer.refusal
    assert marked(peer.mark) == []


def test_a_mark_is_found_in_the_environment_alone(tmp_path: Path) -> None:
    for pid, text in (("7", f"A=1\0{MARK}=abc\0"), ("8", f"X={MARK}=abc\0"), ("9", f"{MARK}=abcd\0")):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "environ").write_text(text)
    (tmp_path / "10").mkdir()  # has ended
    assert marked("abc", tmp_path) == [7]


def test_peers_are_identified_by_name() -> None:
    assert known(["pydoll", "playwright"]) == ("playwright", "pydoll")
    with pytest.raises(ValueError, match="no peer is named lynx"):
        known(["lynx"])


# --- rounds
# ------------------------------------------------------------------------------------------------------


def bench_of(group: PeerGroup, said: list[str] | None = None) -> Bench:
    return Bench(
        "/no/browser",
        (),
        "http://127.0.0.1:1",
        group,
        turn_count=3,
        say=(said if said is not None else []).append,
    )


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with trio.open_nursery() as nursery:
        yield bench_of(PeerGroup((), "/no/browser", (), "http://127.0.0.1:1", nursery))


async def test_the_order_moves_on_and_the_warm_up_is_not_counted(bench: Bench) -> None:
    order: list[str] = []

    def turn(name: str) -> Callable[[], object]:
        async def take() -> float:
            order.append(name)
            return len(order)

        return take

    sides = {name: turn(name) for name in "abc"}
    found = await bench.turns("case", sides, unit="ms", variant="v", size=3, curve="c")  # type: ignore[arg-type]
    rounds = ["".join(order[start : start + 3]) for start in range(0, 12, 3)]
    assert rounds[1:] == ["abc", "bca", "cab"]
    assert sorted(rounds[0]) == ["a", "b", "c"]
    assert [side.side for side in found.sides] == ["a", "b", "c"]
    assert all(len(side.turns) == 3 for side in found.sides)
    assert len(found.reference) == 3
    assert bench.measurements == [found]


@pytest.mark.parametrize(("all_turns", "rounds"), [(False, 3), (True, 9)])
async def test_a_case_that_has_used_its_time_has_fewer_rounds(
    bench: Bench, autojump_clock: trio.testing.MockClock, all_turns: bool, rounds: int
) -> None:
    async def slow() -> float:
        await trio.sleep(20)
        return 1

    async def run(bench: Bench) -> None:
        await bench.turns("case", {"engine": slow}, unit="ms", turns=9, all_turns=all_turns)

    assert (await run_case(bench, Case("case", "A case", run, seconds=70))).failure == ""
    assert len(bench.measurements[0].sides[0].turns) == rounds


async def test_a_side_without_support_is_skipped_and_the_others_continue(bench: Bench) -> None:
    async def good() -> list[float]:
        return [1.0, 2.0]

    turns = 0

    async def at_last() -> float:
        nonlocal turns
        turns += 1
        if turns == 3:
            raise Cannot("has had enough")
        return 1

    async def broken() -> float:
        raise KeyError("mb")

    found = await bench.turns("case", {"engine": good, "floor: pipe": at_last, "pydoll": broken}, unit="ms")
    assert found.sides[0].turns == ((1.0, 2.0),) * 3
    assert (found.sides[1].turns, found.sides[1].cannot) == ((), "has had enough")
    assert found.sides[2].cannot == "KeyError: 'mb'"


async def test_an_error_of_the_benchmark_ends_the_case_and_keeps_its_measurements(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fails() -> float:
        raise RuntimeError("ours\nin detail")

    async def good() -> float:
        return 1

    async def run(bench: Bench) -> None:
        await bench.turns("case", {"engine": good}, unit="ms")
        await bench.turns("case", {"engine": fails}, unit="ms")

    ran = await run_case(bench, Case("case", "A case", run))
    assert ran.failure == "RuntimeError: ours"
    assert len(bench.measurements) == 1
    assert "in detail" in capsys.readouterr().err


async def test_a_case_has_a_deadline(bench: Bench, autojump_clock: trio.testing.MockClock) -> None:
    async def run(_bench: Bench) -> None:
        await trio.sleep_forever()

    ran = await run_case(bench, Case("case", "A case", run, seconds=50))
    assert ran.failure == "did not end within 200 s"


async def test_a_refused_peer_needs_no_process() -> None:
    peer = Peer.refused("pydoll", "is not here")
    with pytest.raises(Cannot, match="is not here"):
        await peer.ask("say")
    await peer.close()
