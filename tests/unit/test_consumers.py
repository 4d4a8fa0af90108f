"""Slow consumers: named once, with the place that opened the stream, and an exact count of lost events."""

from __future__ import annotations

import logging

import pytest
import trio

from cdpengine._protocol.streams import (
    CROWDED_FOR,
    WARN_EVERY,
    Consumers,
    Event,
    EventFeed,
    caller,
)
from cdpengine.errors import EventsLostError

CANARY = b'{"text": "canary-payload"}'


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def opened(consumers: Consumers, buffer: int) -> EventFeed:
    stream = EventFeed(("X.*",), buffer, "program.py:7")
    consumers.add(stream)
    return stream


def deliver(stream: EventFeed, count: int) -> None:
    for _ in range(count):
        stream.deliver(Event("X.e", None, CANARY))


def test_a_stream_that_loses_events_is_named_at_intervals(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    consumers = Consumers(clock)
    stream = opened(consumers, 5)
    deliver(stream, 5)
    assert caplog.records == []
    deliver(stream, 500)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("cdpengine.session", logging.WARNING)
    assert "X.*" in record.getMessage()
    assert "program.py:7" in record.getMessage()
    assert "canary" not in record.getMessage()
    assert consumers.lost_events == 500
    for _ in range(5):
        stream.take()
    with pytest.raises(EventsLostError):
        stream.take()
    deliver(stream, 6)  # a new gap, too soon for a new warning
    assert len(caplog.records) == 1
    with pytest.raises((EventsLostError, trio.WouldBlock)):
        while True:
            stream.take()
    clock.now += WARN_EVERY
    deliver(stream, 6)
    assert len(caplog.records) == 2
    consumers.remove(stream)
    assert consumers.lost_events == 502


def test_a_stream_that_stays_nearly_full_is_named(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    stream = opened(Consumers(clock), 20)
    deliver(stream, 18)
    clock.now += CROWDED_FOR
    assert caplog.records == []
    deliver(stream, 1)
    assert "nearly full" in caplog.text
    assert "19 of 20 waiting, 0 lost" in caplog.text


def test_a_burst_that_is_consumed_causes_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    stream = opened(Consumers(clock), 20)
    for _ in range(10):
        deliver(stream, 19)
        for _ in range(19):
            stream.take()
        clock.now += CROWDED_FOR
    assert caplog.records == []


def test_small_buffers_are_full_by_nature(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    stream = opened(Consumers(clock), 1)
    for _ in range(10):
        deliver(stream, 1)
        stream.take()
        clock.now += CROWDED_FOR
    assert caplog.records == []


def test_the_caller_is_the_program_and_not_the_engine() -> None:
    line = test_the_caller_is_the_program_and_not_the_engine.__code__.co_firstlineno + 2
    assert caller() == f"{__file__}:{line}"
