"""The pure parts of the benchmarks' floors: framing, messages, instruction counters, pages."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import pytest
from hypothesis import given, strategies

from benchmarks import site
from benchmarks.cases.proxy import DIRECT, THROUGH, added
from benchmarks.floor import messages, scripted_browser
from benchmarks.floor.instructions import from_callgrind, from_perf
from benchmarks.floor.pipe import Pipe
from benchmarks.floor.plain_socket import PlainSocket, frame, header
from benchmarks.harness.figures import Measurement, SideFigures
from cdpengine._protocol.transport import RECEIVE_BUFFER

SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, RECEIVE_BUFFER - 20, RECEIVE_BUFFER, 3 * RECEIVE_BUFFER]


def server_frame(message: bytes) -> bytes:
    """Return the frame that Chrome sends: a client's frame without mask and key."""
    framed = frame(message)
    head = len(framed) - len(message) - 4
    return bytes((framed[0], framed[1] & 0x7F)) + framed[2:head] + message


@pytest.mark.parametrize("size", SIZES)
def test_a_frame_locates_its_message(size: int) -> None:
    framed = server_frame(b"x" * size)
    start, end = header(framed, 0, len(framed)) or (0, 0)
    assert (end - start, end) == (size, len(framed))
    shifted = b"other" + framed
    assert header(shifted, 5, len(shifted)) == (start + 5, end + 5)
    assert header(framed, 0, 1) is None
    if size >= 126:
        assert header(framed, 0, 3) is None


@pytest.mark.parametrize(
    "first", [b"\x82\x01x", b"\x01\x01x", b"\x89\x00", b"\x88\x02\x03\xe8", b"\x81\x81kkkkx"]
)
def test_invalid_frames_are_refused(first: bytes) -> None:
    with pytest.raises(ValueError, match="a frame began with"):
        header(first, 0, len(first))


@given(strategies.binary(max_size=300), strategies.binary(min_size=4, max_size=4))
def test_masking_twice_changes_nothing(data: bytes, key: bytes) -> None:
    masked = scripted_browser.unmasked(data, key)
    assert masked == bytes(byte ^ key[at % 4] for at, byte in enumerate(data))
    assert scripted_browser.unmasked(masked, key) == data


@contextmanager
def socket_fed(data: bytes, piece: int) -> Iterator[PlainSocket]:
    """Yield a plain socket that receives `data` in pieces."""
    ours, theirs = socket.socketpair()

    def feed() -> None:
        with theirs:
            for at in range(0, len(data), piece):
                theirs.sendall(data[at : at + piece])

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        with ours:
            ours.settimeout(30)
            yield PlainSocket(ours)
    finally:
        feeder.join()


@pytest.mark.parametrize("piece", [100_000, 70_001, 1 << 22])
def test_a_plain_socket_gives_the_messages_whole_and_in_order(piece: int) -> None:
    sent = [bytes([65 + number]) * size for number, size in enumerate([3, *SIZES, 7, *SIZES, 2])]
    with socket_fed(b"".join(map(server_frame, sent)), piece) as plain:
        assert [bytes(plain.receive()) for _ in sent] == sent
        with pytest.raises(ConnectionError):
            plain.receive()


@pytest.mark.parametrize("piece", [1, 3, 50_000])
def test_a_pipe_gives_the_messages_whole_and_in_order(piece: int) -> None:
    sent = [b"a", b"", b"bb" * 40, b"c"] + ([b"d" * 200_000, b"e"] if piece > 3 else [])
    data = b"".join(message + b"\0" for message in sent)
    theirs_read, ours_write = os.pipe()
    ours_read, theirs_write = os.pipe()

    def feed() -> None:
        for at in range(0, len(data), piece):
            os.write(theirs_write, data[at : at + piece])
        os.close(theirs_write)

    feeder = threading.Thread(target=feed)
    feeder.start()
    pipe = Pipe(ours_write, ours_read)
    try:
        assert [bytes(pipe.receive()) for _ in sent] == sent
        with pytest.raises(ConnectionError):
            pipe.receive()
        pipe.send(b"{}")
        assert os.read(theirs_read, 10) == b"{}\0"
    finally:
        feeder.join()
        for end in (theirs_read, ours_write, ours_read):
            os.close(end)


def test_messages_are_decoded_in_one_pass() -> None:
    assert messages.decode(b'{"id":3,"result":{"a":[1]},"sessionId":"S"}').result == {"a": [1]}
    assert messages.decode(b'{"method":"Page.x","params":{}}').id is None
    command = messages.encode(4, "Page.enable", {}, "S")
    assert msgspec.json.decode(command) == {"id": 4, "method": "Page.enable", "params": {}, "sessionId": "S"}
    assert "sessionId" not in msgspec.json.decode(messages.encode(5, "Page.enable", {}, None))


def test_the_scripted_browser_answers_as_a_browser_does() -> None:
    event, reply = map(
        msgspec.json.decode,
        scripted_browser.answers({"id": 1, "method": "Target.attachToTarget", "params": {}}),
    )
    assert event["params"]["sessionId"] == reply["result"]["sessionId"]
    command = {"id": 2, "method": "Runtime.evaluate", "sessionId": "S"}
    (answer,) = map(msgspec.json.decode, scripted_browser.answers(command))
    assert (answer["id"], answer["sessionId"], answer["result"]["result"]["value"]) == (2, "S", 1)


PERF = "# started on Sat Nov 21 12:00:00 2026\n\n{count},,instructions:u,1201000,100.00,0.92,insn per cycle\n"
CALLGRIND = "version: 1\ncreator: callgrind-3.19.0\nevents: Ir\nsummary: {count}\n\nfl=(1) x\n0 12\n\ntotals: {count}\n"


@pytest.mark.parametrize(
    ("text", "read", "count"),
    [
        (PERF.format(count=48_123_456), from_perf, 48_123_456),
        (PERF.format(count="<not supported>"), from_perf, None),
        (PERF.format(count="<not counted>"), from_perf, None),
        ("", from_perf, None),
        (CALLGRIND.format(count=832_336_371), from_callgrind, 832_336_371),
        ("events: Ir\n", from_callgrind, None),
    ],
)
def test_counts_are_read_from_the_output_of_the_counters(
    text: str, read: Callable[[str], int | None], count: int | None
) -> None:
    assert read(text) == count


def test_pages_are_functions_of_their_address() -> None:
    assert site.body_of("/rows/10") == site.body_of("/rows/10/")
    assert (site.body_of("/rows/3") or b"").count(b"<li>") == 3
    assert (site.body_of("/frames/4") or b"").count(b"<iframe") == 4
    assert all(site.body_of(path) for path in ("/blank", "/scene", "/burst", "/nav/7", "/fragments/2"))
    assert not any(site.body_of(path) for path in ("/", "/rows", "/rows/x", "/blank/1", "/favicon.ico"))
    assert site.answer(b"/n?17").endswith(b"\r\n\r\n" + b"x" * 200)
    assert site.answer(b"/nothing").startswith(b"HTTP/1.1 404")


def test_the_cost_of_the_proxy_is_computed_by_round() -> None:
    sides = (SideFigures(DIRECT, ((1.0,), (2.0,))), SideFigures(THROUGH, ((1.5,), (2.25,))))
    more = added(Measurement("proxy", "round trip", unit="ms", sides=sides))
    assert [side.side for side in more.sides] == [THROUGH]
    assert more.sides[0].medians == (0.5, 0.25)
