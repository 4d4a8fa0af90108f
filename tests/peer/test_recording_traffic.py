"""The recorder on a connection: all traffic becomes lines, in order, under any fault, and delays no task."""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
import trio

import cdpengine
from cdpengine._javascript import own
from cdpengine._protocol.instruments import Instruments, Span, Traffic
from cdpengine.act.observing.messages import MessageLog
from cdpengine.debug import Redactor, open_recording
from cdpengine.debug.recording.fingerprints import Fingerprints
from cdpengine.debug.recording.recorder import log_traffic, record_traffic
from cdpengine.debug.recording.traffic_recorder import TrafficRecorder
from cdpengine.debug.recording_format import Line

HALF = '{"id":2,"result":{"half":"\ud83d"}}'


def recorder_at(path: Path, **options: Any) -> TrafficRecorder:
    settings: dict[str, Any] = {"limit": 0, "queued": 1_000_000, "redactor": None, "product": ""}
    return TrafficRecorder(path, **(settings | options))


def read(path: Path) -> list[Line]:
    with open_recording(path) as recording:
        lines = list(recording)
        assert recording.damage == []
        assert recording.closed_in_order
    return lines


def event(number: int, size: int = 10) -> Traffic:
    text = f'{{"method":"A.b","params":{{"number":{number},"text":"{"x" * size}"}}}}'
    return Traffic(trio.current_time(), "received", "c", text)


async def test_traffic_is_written_in_order_and_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    redactor = Redactor(patterns=["(?i)pin[0-9]+"], secrets=["hunter22"])
    known = [("c", "S", "T", "page", "http://x/?token=abcdef")]
    recorder = recorder_at(path, redactor=redactor, known=known)
    recorder.start()
    now, cause = trio.current_time(), Span(7, "page.click e7", trio.current_time() - 0.5)
    recorder(Traffic(now, "sent", "c", b'{"id":1,"method":"A.a","params":{"pin":"PIN1234"}}', cause))
    recorder(Traffic(now + 0.5, "received", "c", '{"id":1,"result":{"password":"hunter22"}}'))
    recorder(Traffic(now + 0.7, "sent", "c", b'{"id":2,"method":"A.b"}'))
    recorder(Traffic(now + 0.8, "received", "c", HALF))
    recorder.span_ended(cause, now + 1, "")
    await trio.to_thread.run_sync(recorder.finish, now + 2)
    lines = read(path)
    assert [line.k for line in lines] == [
        "target", "span", "call", "reply", "call", "reply", "span-end", "entered", "end",
    ]  # fmt: skip
    assert lines[7].of == lines[2].n
    assert [lines[3].ms, lines[6].ms, lines[8].t] == pytest.approx([500, 1500, lines[1].t + 2], abs=0.01)
    for secret in (b"PIN1234", b"hunter22", b"abcdef"):
        assert secret not in path.read_bytes()


async def test_messages_in_the_writer_thread_count_at_the_end(tmp_path: Path) -> None:
    """The last key is typed while the thread writes the earlier keys. The fingerprint covers all keys."""
    path = tmp_path / "a.jsonl"
    recorder = recorder_at(path, redactor=Redactor(patterns=["(x+x+)+y"]))  # a slow pattern
    recorder.start()
    for number, letter in enumerate("c4nary-pass", 1):
        params = f'{{"type":"keyDown","text":"{letter}","slow":"{"x" * 16}"}}'
        message = f'{{"id":{number},"method":"Input.dispatchKeyEvent","params":{params}}}'
        recorder(Traffic(trio.current_time(), "sent", "c", message.encode()))
    with trio.fail_after(30):
        while recorder._gathered:
            await trio.lowlevel.checkpoint()
    await trio.to_thread.run_sync(recorder.finish, trio.current_time())
    [entered] = [line for line in read(path) if line.k == "entered"]
    with open_recording(path) as recording:
        by = Fingerprints(bytes.fromhex(recording.header.salt))
    assert entered.typed == by.of("c4nary-pass")


@pytest.mark.parametrize("size", [10, 100_000])
async def test_no_line_is_lost_whichever_side_makes_it(tmp_path: Path, size: int) -> None:
    """The task with the messages makes some lines. The writer thread makes lines of queued messages."""
    path = tmp_path / "a.jsonl.zst"
    instruments = Instruments()
    async with record_traffic(instruments, path) as recorder:
        for number in range(600):
            instruments.pass_on(event(number, size))
            if number % 100 == 0:
                with trio.fail_after(30):
                    while recorder.statistics().queued:  # noqa: ASYNC110 - the writer thread has no event for it
                        await trio.sleep(0.01)
        counts = recorder.statistics()
    assert (counts.messages, counts.lost) == (600, 0)
    lines = read(path)[:-1]
    assert [json.loads(bytes(line.msg))["params"]["number"] for line in lines] == list(range(600))
    assert [line.n for line in lines] == list(range(1, 601))


async def test_overflow_is_counted_at_the_gap(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    recorder = recorder_at(path, queued=500)
    for number in range(3):
        recorder(event(number))
    recorder(event(3, 1_000))
    recorder(event(4))
    recorder.start()
    await trio.to_thread.run_sync(recorder.finish, trio.current_time())
    assert recorder.statistics().lost == 1
    lines = read(path)
    assert [line.k for line in lines] == ["event", "event", "event", "lost", "event", "end"]
    assert [line.n for line in lines] == [1, 2, 3, 4, 6, 7]


PIECES = ('{"a":1,"token":"Zx9kQ2', 'mP7vL4tR8w","z":1}')
TWO_BODIES = [
    *(
        (
            "sent",
            {"id": number, "method": "Network.streamResourceContent", "params": {"requestId": str(number)}},
        )
        for number in (1, 2)
    ),
    *(
        ("received", {"id": number, "result": {"bufferedData": base64.b64encode(piece.encode()).decode()}})
        for number, piece in enumerate((PIECES[0], '{"b":2,'), 1)
    ),
    (
        "received",
        {
            "method": "Network.dataReceived",
            "params": {"requestId": "1", "data": base64.b64encode(PIECES[1].encode()).decode()},
        },
    ),
]
"""The interleaved reads of two bodies, one of which was cut inside a secret."""


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.zst", "proxy.jsonl", "log", "messages"])
@pytest.mark.parametrize("binary", [False, True])
async def test_a_secret_cut_in_two_appears_in_no_output(
    tmp_path: Path, name: str, binary: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Covers everything derived from the traffic, over a websocket (strings) and a pipe (bytes)."""
    instruments = Instruments()
    messages = MessageLog()
    with contextlib.ExitStack() as stack:
        recorder = None
        if name == "log":
            caplog.set_level(logging.DEBUG, "cdpengine.wire")
            stack.enter_context(log_traffic(instruments))
        elif name == "messages":
            stack.enter_context(instruments.attached(messages))
        else:
            foreign = name == "proxy.jsonl"
            recorder = recorder_at(tmp_path / name, redactor=Redactor(), foreign=foreign)
            recorder.start()
            stack.enter_context(instruments.attached(recorder))
        for direction, message in TWO_BODIES:
            text = json.dumps(message)
            made = text.encode() if binary else text
            instruments.pass_on(Traffic(trio.current_time(), direction, "c", made))  # type: ignore[arg-type]
    if recorder is not None:
        await trio.to_thread.run_sync(recorder.finish, trio.current_time())
        written = "".join(bytes(line.msg).decode() for line in read(tmp_path / name))
    else:
        written = caplog.text if name == "log" else json.dumps(messages.newest(None, 100))
    assert "dataReceived" in written
    held = [base64.b64decode(text) for text in re.findall(r'ata\\*": ?\\*"([\w+/]*=*)', written)]
    assert not any(
        each in b"|".join((*held, written.encode())) for each in (b"Zx9kQ2", b"mP7vL4", b"vL4tR8w")
    )
    assert held or name in ("log", "messages")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is missing")
async def test_a_full_disk_is_reported_at_the_end_and_takes_no_memory() -> None:
    instruments = Instruments()
    with pytest.raises(cdpengine.errors.FileNotWrittenError, match="no space is left on the disk"):
        async with record_traffic(instruments, "/dev/full") as recorder:
            with trio.fail_after(30):
                while recorder.failure is None:
                    instruments.pass_on(event(1, 1_000))
                    await trio.lowlevel.checkpoint()
            before = recorder.statistics()
            instruments.pass_on(event(2))
            after = recorder.statistics()
            assert (after.lost, after.queued) == (before.lost + 1, before.queued)
            (instrument,) = instruments.active
            assert isinstance(instrument, TrafficRecorder)
            instrument.span_ended(Span(1, "page.click e1"), trio.current_time(), "")
            assert not [item for item in instrument._gathered if not isinstance(item, Traffic)]


async def test_an_error_of_the_recorder_is_reported_without_the_message(tmp_path: Path) -> None:
    instruments = Instruments()
    with pytest.raises(
        cdpengine.errors.FileNotWrittenError, match=r"TypeError in \w+\.py, line [0-9]+"
    ) as told:
        async with record_traffic(instruments, tmp_path / "a.jsonl"):
            instruments.pass_on(Traffic("now", "received", "c", '{"method":"canary"}'))  # type: ignore[arg-type]
    assert "canary" not in str(told.value)


OWN_SCRIPT = own("'returned by a script of the engine'")
RETURNED = {"type": "string", "value": "c4nary"}
LINKED = {"type": "object", "objectId": "1"}
THROWN = {"text": "Uncaught", "exception": {"type": "object", "description": "Error: c4nary"}}


@pytest.mark.parametrize(
    ("options", "source", "result", "withheld"),
    [
        ({}, "'users'", {"result": RETURNED}, True),
        ({}, "'users'", {"result": LINKED, "exceptionDetails": THROWN}, True),
        ({}, "'users'", {"result": {"type": "number", "value": 3}}, False),
        ({}, "'users'", {"result": LINKED}, False),
        ({}, OWN_SCRIPT, {"result": RETURNED}, False),
        ({"secrets": ["c4nary"]}, OWN_SCRIPT, {"result": RETURNED}, False),
        ({"keep_arguments": True}, "'users'", {"result": RETURNED}, False),
        ({"keep_arguments": True, "secrets": ["c4nary"]}, "'users'", {"result": RETURNED}, False),
        (None, "'users'", {"result": RETURNED}, False),
    ],
)
async def test_a_withheld_reply_is_marked(
    options: dict[str, Any] | None, source: str, result: dict[str, Any], withheld: bool, tmp_path: Path
) -> None:
    """Values that are secret everywhere do not count: every recording withholds them."""
    path = tmp_path / "a.jsonl"
    recorder = recorder_at(path, redactor=None if options is None else Redactor(**options))
    recorder.start()
    call = {"id": 1, "method": "Runtime.evaluate", "params": {"expression": source}}
    for direction, message in (("sent", call), ("received", {"id": 1, "result": result})):
        recorder(Traffic(trio.current_time(), direction, "c", json.dumps(message)))  # type: ignore[arg-type]
    await trio.to_thread.run_sync(recorder.finish, trio.current_time())
    called, replied, *_ = read(path)
    assert (called.withheld, replied.withheld) == (False, withheld)
