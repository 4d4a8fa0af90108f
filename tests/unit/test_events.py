"""Events and the patterns that choose them."""

from __future__ import annotations

import msgspec
import pytest

from cdpengine._protocol.streams import Event, compile_pattern, domain_of
from cdpengine.errors import InvalidArgumentError, ProtocolError


class Loaded(msgspec.Struct):
    timestamp: float


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("*", ["A.b", "", "weird"], []),
        ("Network.*", ["Network.a", "Network.b.c"], ["NetworkX.a", "Network", "network.a"]),
        ("Page.loadEventFired", ["Page.loadEventFired"], ["Page.loadEventFiredX", "Page.load"]),
        ("WebAuthn2.a1", ["WebAuthn2.a1"], ["WebAuthn2.a"]),
    ],
)
def test_patterns(pattern: str, matching: list[str], other: list[str]) -> None:
    test = compile_pattern(pattern)
    assert all(test(method) for method in matching)
    assert not any(test(method) for method in other)


@pytest.mark.parametrize(
    "pattern",
    ["", "Page", "Page.", ".x", "*.*", "Pa*", "Page.load*", "Page.a\n", " Page.a", "A.b.c", 5, None],
)
def test_invalid_patterns_are_refused(pattern: object) -> None:
    with pytest.raises(InvalidArgumentError, match="event pattern"):
        compile_pattern(pattern)  # type: ignore[arg-type]


def test_domain_of_a_pattern() -> None:
    assert domain_of("*") is None
    assert domain_of("Network.*") == "Network"
    assert domain_of("Page.loadEventFired") == "Page"


def test_parameters_are_decoded_once() -> None:
    event = Event("A.b", "S", b'{"x":1}')
    assert event.params == {"x": 1}
    assert event.params is event.params


def test_an_event_without_parameters_has_none() -> None:
    assert Event("A.b", None, b"").params == {}
    assert Event("A.b", None, msgspec.Raw(b"")).params == {}


def test_decoding_into_a_type() -> None:
    assert Event("Page.loadEventFired", None, b'{"timestamp":1.5,"new":[]}').decode(Loaded) == Loaded(1.5)


@pytest.mark.parametrize("raw", [b"null", b"[1]", b'{"x":', b'{"x":"\xff"}', b"[" * 9999])
def test_parameters_of_another_shape_carry_their_raw_json(raw: bytes) -> None:
    with pytest.raises(ProtocolError) as caught:
        _ = Event("A.b", None, raw).params
    assert caught.value.raw == raw
    assert caught.value.method == "A.b"


def test_typed_gives_pycdps_class() -> None:
    import cdp.page

    event = Event("Page.loadEventFired", None, b'{"timestamp":1.5}').typed()
    assert isinstance(event, cdp.page.LoadEventFired)


@pytest.mark.parametrize(
    ("method", "raw"),
    [
        ("Page.brandNewEvent", b"{}"),
        ("Page.loadEventFired", b"{}"),
        ("Page.frameRequestedNavigation", b'{"frameId":"F","reason":"brandNew","url":"u","disposition":"x"}'),
    ],
)
def test_parameters_that_pycdp_cannot_decode_carry_the_raw_json(method: str, raw: bytes) -> None:
    with pytest.raises(ProtocolError) as caught:
        Event(method, None, raw).typed()
    assert caught.value.raw == raw


def test_repr_contains_no_payload() -> None:
    text = repr(Event("A.b", "S", b'{"password":"hunter2"}'))
    assert "A.b" in text
    assert "hunter2" not in text
