"""Redirects: each request of a chain has its own status and headers, for any order of the events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from recorded import Recorded
from redirects import Chain, chains

from cdpengine._activity.exchange import Exchange, Exchanges
from cdpengine._protocol.domains.network import REQUEST_EVENTS
from cdpengine.debug import open_recording
from cdpengine.debug.reading.har import archive_document


def event(name: str, **params: Any) -> Any:
    return msgspec.convert({"requestId": "1", **params}, REQUEST_EVENTS[f"Network.{name}"])


def own(chain: Chain, hop: int, exchange: Exchange) -> bool:
    """Return whether an exchange has its own status and headers, or none yet."""
    sent, answered = exchange.request_headers, exchange.response_headers
    return (
        exchange.response_status in (None, chain.status(hop))
        and (sent is None or sent["X-Hop"] == f"sent {hop}")
        and answered in (None, chain.answered(hop))
    )


@pytest.mark.parametrize("chain", chains(), ids=str)
def test_every_order_gives_each_request_its_headers(chain: Chain) -> None:
    for order in chain.orders():
        exchanges = Exchanges(1000)
        hops: list[Exchange] = []
        for name, params in order:
            exchange = exchanges.take(None, event(name, **params))
            if name == "requestWillBeSent":
                assert exchange is not None
                hops.append(exchange)
            # Until Chrome reports whether extra headers exist, the first ones count as the request's own.
            known = [hop for hop, each in enumerate(hops) if each.has_extra_info is not None]
            assert all(own(chain, hop, hops[hop]) for hop in known), order
            if name == "loadingFinished":
                assert not exchanges.under_way()
        for hop, each in enumerate(hops):
            assert own(chain, hop, each), order
            answers = not (chain.ending == "unanswered" and hop == chain.hops[-1])
            assert (each.request_headers is not None) is chain.extra[hop], order
            assert (each.response_headers is not None) is (chain.extra[hop] and answers), order
            assert not each.awaits_headers
            assert each.before is (hops[hop - 1] if hop else None)


def test_an_older_chrome_without_the_flag_for_extra_headers() -> None:
    exchanges = Exchanges()
    for name, params in next(Chain((True, True)).orders()):
        older = {key: value for key, value in params.items() if not key.endswith("asExtraInfo")}
        exchanges.take(None, event(name, **older))
    last = exchanges.known(None, "1")
    assert last is not None
    assert last.before is not None
    assert [each.response_status for each in (last.before, last)] == [302, 200]


def test_a_reused_id_takes_no_headers_of_the_earlier_request() -> None:
    exchanges = Exchanges()
    exchanges.take(None, event("requestWillBeSent"))
    exchanges.take(None, event("requestWillBeSentExtraInfo", headers={"A": "1"}))
    exchanges.take(None, event("requestWillBeSentExtraInfo", headers={"A": "2"}))
    again = exchanges.take(None, event("requestWillBeSent"))
    assert again is not None
    assert (again.before, again.request_headers) == (None, {"A": "2"})


def test_headers_of_requests_that_never_begin_are_dropped() -> None:
    exchanges = Exchanges(10)
    for number in range(5000):
        exchanges.take(None, event("requestWillBeSentExtraInfo", requestId=str(number), headers={"A": "1"}))
    latest = exchanges.take(None, event("requestWillBeSent", requestId="4999"))
    assert latest is not None
    assert latest.request_headers == {"A": "1"}


@pytest.mark.parametrize(
    "chain", [Chain((True, True)), Chain((False, True)), Chain((True, False, True))], ids=str
)
def test_archives_of_recordings_give_each_entry_its_headers(chain: Chain, tmp_path: Path) -> None:
    recorded = Recorded()
    recorded.attach("5E55", "7A26")
    count = 0
    for order in chain.orders():
        count += 1
        for name, params in order:
            recorded.event(f"Network.{name}", "5E55", requestId=str(count), **params)
    path = recorded.write(tmp_path / "a.jsonl")
    with open_recording(path) as recording:
        entries = json.loads(archive_document(recording, recording))["log"]["entries"]
        assert not recording.damage
    assert len(entries) == count * len(chain.extra)
    for entry in entries:
        hop = int(entry["request"]["url"].rpartition("/")[2])
        headers = {pair["name"]: pair["value"] for pair in entry["response"]["headers"]}
        assert (entry["response"]["status"], headers) == (chain.status(hop), chain.answered(hop))
        assert entry["request"]["headers"] == [{"name": "X-Hop", "value": chain.sent(hop)}]


def test_headers_of_worker_requests_belong_to_them(tmp_path: Path) -> None:
    """Chrome reports the headers of a worker's request on the page's session, also for nested workers."""
    chain = Chain((True, True))
    recorded = Recorded()
    recorded.attach("PAGE", "7A26")
    for session, parent in (("WORKER", "PAGE"), ("NESTED", "WORKER")):
        info = {"targetId": f"T-{session}", "type": "worker", "url": "w.js"}
        recorded.event("Target.attachedToTarget", parent, sessionId=session, targetInfo=info)
    count = 0
    for order in chain.orders():
        for session in ("WORKER", "NESTED"):
            count += 1
            for name, params in order:
                recorded.event(
                    f"Network.{name}",
                    "PAGE" if name.endswith("ExtraInfo") else session,
                    requestId=str(count),
                    **params,
                )
    path = recorded.write(tmp_path / "a.jsonl")
    with open_recording(path) as recording:
        entries = json.loads(archive_document(recording, recording))["log"]["entries"]
    assert len(entries) == count * 2
    for entry in entries:
        hop = int(entry["request"]["url"].rpartition("/")[2])
        headers = {pair["name"]: pair["value"] for pair in entry["response"]["headers"]}
        assert (entry["response"]["status"], headers) == (chain.status(hop), chain.answered(hop))
