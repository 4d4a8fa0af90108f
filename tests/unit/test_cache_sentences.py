"""The table of sentences, English and Chinese: the scenario of each, and its values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from cdpengine.cache import ScenarioRecognizer, extract_variables, match_rules

TABLE = Path(__file__).parent / "data" / "sentences.txt"

Row = tuple[str, Mapping[str, str]]
"""A sentence, and its values."""


def read_table() -> dict[str, list[Row]]:
    """Return the rows of the table by heading, such as "login, English"."""
    sections: dict[str, list[Row]] = {}
    heading = ""
    for line in TABLE.read_text("utf-8").splitlines():
        if line.startswith("== "):
            heading = line[3:]
        elif line and not line.startswith("#"):
            sentence, *values = line.split(" | ")
            row = sentence, dict(value.split("=", 1) for value in values)
            sections.setdefault(heading, []).append(row)
    return sections


SECTIONS = read_table()


@pytest.mark.parametrize("heading", SECTIONS)
def test_sentences_ask_for_their_scenario_with_their_values(heading: str) -> None:
    wanted = heading.partition(",")[0].replace("nothing", "")
    wrong = []
    for sentence, values in SECTIONS[heading]:
        found = match_rules(sentence)
        scenario = "" if found is None or found.confidence < 60 else found.scenario
        found_values = extract_variables(sentence, scenario)
        unnamed = {str(number): value for number, value in enumerate(found_values.unnamed, 1)}
        extracted = {**found_values.values, **unnamed} if scenario else {}
        if (scenario, extracted) != (wanted, values):
            wrong.append((sentence, scenario, extracted))
    assert wrong == []


async def test_sentences_without_a_request_do_not_act() -> None:
    recognizer = ScenarioRecognizer()
    for heading, rows in SECTIONS.items():
        for sentence, _ in rows:
            seen = await recognizer.understand(sentence)
            acts = seen.acts and seen.match is not None and seen.match.confidence >= 60
            assert acts == (not heading.startswith("nothing")), sentence


def test_the_table_has_enough_sentences_in_both_languages() -> None:
    counts = {(heading.startswith("nothing"), heading.endswith("Chinese")): 0 for heading in SECTIONS}
    for heading, rows in SECTIONS.items():
        counts[heading.startswith("nothing"), heading.endswith("Chinese")] += len(rows)
    assert counts[False, False] >= 100
    assert counts[False, True] >= 100
    assert counts[True, False] >= 30
    assert counts[True, True] >= 30


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        ("log in: username: account, password: user", {"username": "account", "password": "user"}),
        ("log in, username: mail and password: x1", {"username": "mail", "password": "x1"}),
        ('log in and write the note "password: abc"', {}),
        ('log in with password "code: 12"', {"password": "code: 12"}),
        ("open the account settings and log in", {}),
        ("log in as an administrator", {}),
    ],
)
def test_a_word_that_names_values_may_be_a_value_or_content(sentence: str, values: Mapping[str, str]) -> None:
    assert dict(extract_variables(sentence, "login").values) == values
