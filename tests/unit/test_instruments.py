"""Instruments see the traffic, and cannot break it."""

from __future__ import annotations

import logging

import pytest

from cdpengine._protocol.instruments import Instruments, Span, Traffic
from cdpengine._protocol.wire import current_span, span


def traffic(text: str) -> Traffic:
    return Traffic(time=1.0, direction="sent", connection="test", message=text)


def test_no_instrument_is_active_at_first_or_remains() -> None:
    instruments = Instruments()
    assert not instruments.active
    with instruments.attached(lambda _: None):
        assert len(instruments.active) == 1
    assert not instruments.active


def test_watchers_see_messages_in_order_while_they_watch() -> None:
    instruments = Instruments()
    outer: list[Traffic] = []
    inner: list[Traffic] = []
    with instruments.attached(outer.append):
        instruments.pass_on(traffic("1"))
        with instruments.attached(inner.append):
            instruments.pass_on(traffic("2"))
        instruments.pass_on(traffic("3"))
    instruments.pass_on(traffic("4"))
    assert [seen.message for seen in outer] == ["1", "2", "3"]
    assert [seen.message for seen in inner] == ["2"]


def test_an_instrument_added_twice_continues_after_the_inner_block() -> None:
    instruments = Instruments()
    seen: list[Traffic] = []
    instrument = seen.append
    with instruments.attached(instrument):
        with instruments.attached(instrument):
            instruments.pass_on(traffic("1"))
        instruments.pass_on(traffic("2"))
    assert [one.message for one in seen] == ["1", "1", "2"]


def test_an_instrument_that_raises_is_removed_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    instruments = Instruments()
    seen: list[Traffic] = []
    calls = 0

    def fails(_traffic: Traffic) -> None:
        nonlocal calls
        calls += 1
        raise ValueError("instrument")

    with (
        caplog.at_level(logging.ERROR, logger="cdpengine.wire"),
        instruments.attached(fails),
        instruments.attached(seen.append),
    ):
        instruments.pass_on(traffic("1"))
        instruments.pass_on(traffic("2"))
    assert calls == 1
    assert len(seen) == 2
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_the_watcher_leaves_when_the_body_raises() -> None:
    instruments = Instruments()
    with pytest.raises(KeyError), instruments.attached(lambda _: None):
        raise KeyError
    assert not instruments.active


def test_two_connections_to_one_endpoint_have_two_names() -> None:
    instruments = Instruments()
    names = [instruments.name_connection(endpoint) for endpoint in ("ws://a", "ws://b", "ws://a", "ws://a")]
    assert names == ["ws://a", "ws://b", "ws://a #2", "ws://a #3"]


class EndsSeen:
    def __init__(self, *, failing: bool = False) -> None:
        self.failing = failing
        self.ended: list[Span] = []
        self.times: list[float] = []
        self.failed: list[str] = []

    def __call__(self, traffic: Traffic) -> None: ...

    def span_ended(self, ended: Span, time: float, failed: str) -> None:
        if self.failing:
            raise ValueError("instrument")
        self.ended.append(ended)
        self.failed.append(failed)
        self.times.append(time)


async def test_the_end_of_an_action_is_reported_to_instruments_that_saw_its_commands() -> None:
    instruments, idle = Instruments(), Instruments()
    seen, unseen = EndsSeen(), EndsSeen()
    with (
        instruments.attached(seen),
        instruments.attached(lambda _: None),
        idle.attached(unseen),
        span("page.click e7"),
        span("inner"),
    ):
        cause = current_span()
        assert cause is not None
        instruments.pass_on(Traffic(1.0, "sent", "test", "1", cause))
        instruments.pass_on(Traffic(2.0, "sent", "test", "2", cause))
        assert seen.ended == []
    assert (seen.ended, unseen.ended) == ([cause], [])
    seen.ended.clear()
    seen.times.clear()
    with span("page.click e7"), instruments.attached(seen):
        instruments.pass_on(Traffic(1.0, "sent", "test", "1", current_span()))
    assert seen.ended == []  # it watched no more
    with instruments.attached(seen), idle.attached(unseen):
        with pytest.raises(KeyError), span("page.click e7"):
            cause = current_span()
            instruments.pass_on(Traffic(1.0, "sent", "test", "1", cause))
            raise KeyError
        with span("page.nothing sent"):
            pass
    assert [one.name for one in seen.ended] == ["page.click e7"]
    assert seen.ended == [cause]
    assert seen.ended[0].began <= seen.times[0]
    assert unseen.ended == []


async def test_an_instrument_that_raises_at_the_end_of_an_action_is_removed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    instruments = Instruments()
    seen = EndsSeen()
    with (
        caplog.at_level(logging.ERROR, logger="cdpengine.wire"),
        instruments.attached(EndsSeen(failing=True)),
        instruments.attached(seen),
    ):
        with span("page.click e7"):
            instruments.pass_on(Traffic(1.0, "sent", "test", "1", current_span()))
        assert instruments.active == (seen,)
    assert len(seen.ended) == 1
    assert [record.levelname for record in caplog.records] == ["ERROR"]


class BodyStore:
    """An instrument that keeps secrets, and fails at a chosen one."""

    def __init__(self, fails_at: str = "") -> None:
        self.secrets: list[str] = []
        self.fails_at = fails_at

    def __call__(self, _traffic: Traffic) -> None:
        pass

    def add_secret(self, text: str) -> None:
        if text == self.fails_at:
            raise ValueError("instrument")
        self.secrets.append(text)


def test_secrets_reach_current_and_later_instruments() -> None:
    instruments = Instruments()
    early, late = BodyStore(), BodyStore()
    with instruments.attached(early), instruments.attached(lambda _: None):
        instruments.add_secret("hunter2")
        instruments.add_secret("")
        instruments.add_secret("correct horse")
        with instruments.attached(late):
            instruments.add_secret("hunter2")
    assert early.secrets == ["hunter2", "correct horse", "hunter2"]
    assert late.secrets == ["hunter2", "correct horse", "hunter2"]
    assert instruments.secrets == ("correct horse", "hunter2")


def test_a_tap_keeps_a_limited_number_of_secrets_and_no_huge_one() -> None:
    instruments = Instruments()
    instruments.add_secret("x" * 5_000)
    for number in range(300):
        instruments.add_secret(f"secret {number}")
    assert instruments.secrets == tuple(f"secret {number}" for number in range(44, 300))


def test_an_instrument_that_rejects_a_secret_is_removed(caplog: pytest.LogCaptureFixture) -> None:
    instruments = Instruments()
    instruments.add_secret("hunter2")
    with (
        caplog.at_level(logging.ERROR, logger="cdpengine.wire"),
        instruments.attached(BodyStore(fails_at="hunter2")),
    ):
        assert not instruments.active
    with instruments.attached(BodyStore(fails_at="swordfish")):
        instruments.add_secret("swordfish")
        assert not instruments.active
    assert "swordfish" not in caplog.text
    assert "hunter2" not in caplog.text
