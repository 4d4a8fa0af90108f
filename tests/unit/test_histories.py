"""Histories: exact to their bounds, and read-only for users."""

from __future__ import annotations

import pickle

from cdpengine._history import LARGEST, BoundedHistory, Records


def test_a_history_is_exact_to_its_bound() -> None:
    records: Records[int] = Records(3)
    history = BoundedHistory(records)
    for number in range(5):
        records.add(number)
    assert (list(history), len(history), history.bound, history.dropped) == ([2, 3, 4], 3, 3, 2)
    assert (history[0], history[-1], history[1:], history[::-1]) == (2, 4, [3, 4], [4, 3, 2])
    assert repr(history) == "<3 records, 2 dropped>"
    for number in history:
        records.add(number)  # iteration tolerates additions
    records.clear()
    for number in range(5):
        records.add(number)
    records.set_bound(2)
    assert (list(history), history.dropped) == ([3, 4], 3)
    records.clear(lambda number: number == 4)
    assert (list(history), history.dropped) == ([4], 0)
    records.add(5, LARGEST + 1)
    assert (list(history), history.dropped) == ([5], 1)


def test_users_read_another_form_of_the_records() -> None:
    records: Records[int] = Records(2)
    history = BoundedHistory(records, str)
    for number in range(3):
        records.add(number)
    assert (list(history), history[0], history[:1], "2" in history) == (["1", "2"], "1", ["1"], True)
    again = pickle.loads(pickle.dumps(history))
    records.add(3)
    assert (list(again), again.bound, again.dropped) == (["1", "2"], 2, 1)
