"""Data that clusters send: unpicklable results are reported, and errors arrive unchanged or with their
message.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

import cdpengine
from cdpengine.cluster import BrowserCluster, BrowserWorker
from cdpengine.cluster.job_ledger import Beginning
from cdpengine.cluster.sending import pack, pack_result, unpack, unpack_result
from cdpengine.cluster.worker_jobs import _lost_attempts
from cdpengine.errors import InvalidArgumentError, PoolUnavailableError, WorkerLostError
from cdpengine.pool import Attempt, JobResult, RemoteBrowsers


class TwoArgumentsError(Exception):
    """An error that can be pickled but not unpickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def result_of(value: Any = None, error: Exception | None = None) -> JobResult[Any]:
    return JobResult(3, object(), value, error, (Attempt("browser 1.1", 0.0, 1.0, error),))


def test_a_result_comes_back_with_its_item() -> None:
    item = object()
    again = unpack_result(pack_result(result_of({"a": (1, 2)})), 3, item)
    assert again.item is item
    assert (again.index, again.unwrap()) == (3, {"a": (1, 2)})


@pytest.mark.parametrize(
    "value", [sys.stdout, [sys.stdout], (each for each in "ab"), object.__new__(cdpengine.Page)]
)
def test_an_unpicklable_value_is_an_error(value: object) -> None:
    again = unpack_result(pack_result(result_of(value)), 3, None)
    assert isinstance(again.error, InvalidArgumentError)
    assert again.attempts[0].error is again.error
    assert again.attempts[0].browser == "browser 1.1"


def test_an_error_arrives_unchanged_or_with_its_message() -> None:
    again = unpack_result(pack_result(result_of(error=LookupError("a"))), 3, None)
    assert type(again.error) is LookupError
    assert again.attempts[0].error is again.error
    again = unpack_result(pack_result(result_of(error=TwoArgumentsError("a", "b"))), 3, None)
    assert isinstance(again.error, InvalidArgumentError)
    assert "TwoArgumentsError: a and b" in str(again.error)
    assert again.attempts[0].error is again.error


def test_undecodable_bytes_are_an_error() -> None:
    again = unpack_result(b"cno_such_module\nname\n.", 3, "item")
    assert isinstance(again.error, InvalidArgumentError)
    assert "no_such_module" in str(again.error)
    assert (again.index, again.item, again.attempts) == (3, "item", ())


def test_attempts_that_were_lost() -> None:
    assert _lost_attempts([]) == ()
    lost = _lost_attempts([Beginning("tcp://a", 10.0), Beginning("tcp://b", 4.0)])
    assert [(each.browser, each.begun, each.seconds) for each in lost] == [
        ("tcp://a", 0, 6.0),
        ("tcp://b", 6.0, 4.0),
    ]
    assert all(isinstance(each.error, WorkerLostError) for each in lost)


def test_workers_of_the_same_options_are_equal() -> None:
    member = RemoteBrowsers("ws://127.0.0.1:1/", connections=2)
    one = BrowserWorker(member, pages=3)
    again = unpack("the worker", pack("the worker", one))
    assert again == one
    assert again != BrowserWorker(member, pages=4)
    assert repr(again) == "<BrowserWorker 6 pages>"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"scheduler": "scheduler:8786"}, "scheduler"),
        ({"scheduler": 5}, "scheduler"),
        ({"scheduler": "tcp://127.0.0.1:1", "workers": 2}, "workers"),
        ({"workers": 0}, "workers"),
        ({"pages": 0}, "pages"),
        ({"browsers": []}, "browsers"),
        ({"timeout": -1}, "timeout"),
    ],
)
def test_impossible_settings_are_refused(arguments: dict[str, Any], what: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^{what}: "):
        BrowserCluster(**arguments)


async def test_a_cluster_that_does_not_run() -> None:
    cluster = BrowserCluster("tcp://127.0.0.1:1", timeout=0.5)
    with pytest.raises(PoolUnavailableError, match="has not begun"):
        cluster.map(_nothing, [1])
    with pytest.raises(PoolUnavailableError, match="has not begun"):
        await cluster.run(_nothing, 1)
    with pytest.raises(
        cdpengine.errors.PoolUnavailableError, match="cannot use the cluster at tcp://127.0.0.1:1: "
    ):
        async with cluster:
            pytest.fail("nothing listens there")
    with pytest.raises(PoolUnavailableError, match="create a new one"):
        async with cluster:
            pytest.fail("it was entered before")


async def _nothing(page: cdpengine.Page, number: int) -> None:
    """Do nothing."""
