"""Recognition of the scenario in a sentence, with a confidence and the method.

Rule: English phrases match whole words. For Chinese phrases, the longest match wins ("退出登录" is logout).
Quoted strings and search terms are content, no instructions. A phrase without an instruction ("do not log
in", "the login page") does not count: see `instructions`. The recognizer uses certain rules, then a
classifier, then similar earlier sentences, then less certain rules. It skips a classifier that fails or is
too slow. A URL alone is only a hint. Its confidence is below the default minimum.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Literal

import attrs
import trio

from cdpengine._checks import check_count
from cdpengine.cache.addresses import normalize_url
from cdpengine.cache.recognizing.instructions import CLAUSE, asks_nothing, is_instruction
from cdpengine.cache.recognizing.masking import mask_address, mask_for_classifier
from cdpengine.cache.recognizing.scenario_rules import SCENARIO_RULES, SURE, ScenarioRule, phrases_of
from cdpengine.cache.recognizing.sentences import LONGEST_SENTENCE, mask_values
from cdpengine.cache.recognizing.variable_rules import HAN, QUOTED
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import duration

Method = Literal["words", "words and url", "url", "classifier", "history"]

LEAST_CLASSIFIED, LEAST_ALIKE = 70, 60
"""Minimum confidence of the classifier and of the history, from 0 to 100."""

_AMBIGUOUS, _BY_URL, _AGREES, _SPOKEN_OF = 25, 50, 5, 40
"""Confidence: deduction for a second scenario, value of a URL alone, bonus for an agreeing URL, value of a
mention.

A mention is a scenario in a sentence without an instruction.
"""

ASKS_NOTHING = "the sentence is no instruction: it is a question, a negation, a condition or a remark"

CLASSIFYING = 5.0
"""Time limit of a classifier, in seconds."""

_MOST_PHRASES = 50
"""Maximum number of phrases per sentence. It bounds the time for a sentence."""

_SCENARIO = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)


_QUOTATION = re.compile(rf"(?<![A-Za-z0-9])(?:{QUOTED})")


@attrs.frozen(kw_only=True)
class ScenarioMatch:
    """A recognized scenario, with its confidence (0 to 100) and the method.

    `matched` is the phrase or the part of the path, or "" for other methods. `others` are the other scenarios
    in the sentence, in order.
    """

    scenario: str
    confidence: int
    method: Method
    matched: str = ""
    others: tuple[str, ...] = ()


Classifier = Callable[[str, str | None, tuple[str, ...]], Awaitable[ScenarioMatch | None]]
"""A classifier of the masked sentence (`${name}` for values), the normalized URL, and the known scenarios."""


def match_rules(
    sentence: str, url: str | None = None, *, rules: Iterable[ScenarioRule] = SCENARIO_RULES
) -> ScenarioMatch | None:
    """Return the scenario that the rules find, or None.

    If a sentence names several scenarios, the first one wins, with a lower confidence.
    """
    known = tuple(rules)
    by_path = _match_path(url, known)
    found = _match_words(sentence[:LONGEST_SENTENCE], known)
    if not found:
        return by_path
    scenarios = tuple(dict.fromkeys(rule.scenario for rule, _ in found))
    rule, phrase = found[0]
    confidence = rule.confidence - (_AMBIGUOUS if len(scenarios) > 1 else 0)
    agrees = by_path is not None and by_path.scenario == rule.scenario
    return ScenarioMatch(
        scenario=rule.scenario,
        confidence=min(100, confidence + (_AGREES if agrees else 0)),
        method="words and url" if agrees else "words",
        matched=phrase,
        others=scenarios[1:],
    )


def _match_words(sentence: str, rules: tuple[ScenarioRule, ...]) -> list[tuple[ScenarioRule, str]]:
    """Return the rules whose phrases are instructions, with these phrases, in order."""
    text = _QUOTATION.sub(lambda quoted: "\0" * len(quoted[0]), sentence)
    return [
        (rule, text[start:end]) for start, end, rule, instructs in _find_phrases(text, rules) if instructs
    ]


def _find_phrases(text: str, rules: tuple[ScenarioRule, ...]) -> list[tuple[int, int, ScenarioRule, bool]]:
    """Return the phrases of rules outside of content, in order, and whether each is an instruction."""
    spans = [
        (found.start(), found.end(), rule)
        for rule in rules
        for found in phrases_of(rule.words).finditer(text)
    ]
    spans = sorted(spans, key=lambda each: each[0])[:_MOST_PHRASES]
    taken: list[tuple[int, int, ScenarioRule]] = []
    for start, end, rule in sorted(spans, key=lambda each: (each[0] - each[1], each[0])):  # the longest first
        if all(end <= other_start or start >= other_end for other_start, other_end, _ in taken):
            taken.append((start, end, rule))
    content_until = 0
    found_phrases: list[tuple[int, int, ScenarioRule, bool]] = []
    for start, end, rule in sorted(taken, key=lambda each: each[0]):
        if start < content_until:
            continue
        instructs = is_instruction(text, start, end, content=rule.takes_content, place=rule.is_place)
        if rule.takes_content and instructs:
            pause = CLAUSE.search(text, end)
            content_until = pause.start() if pause is not None else len(text)
        found_phrases.append((start, end, rule, instructs))
    return found_phrases


def match_remark(sentence: str, *, rules: Iterable[ScenarioRule] = SCENARIO_RULES) -> ScenarioMatch | None:
    """Return the scenario that a sentence mentions without an instruction, or None for other sentences.

    The scenario's name is "" if the sentence mentions no known scenario.
    """
    text = _QUOTATION.sub(lambda quoted: "\0" * len(quoted[0]), sentence[:LONGEST_SENTENCE])
    found = _find_phrases(text, tuple(rules))
    if any(instructs for *_, instructs in found) or not asks_nothing(
        text, [(start, end) for start, end, *_ in found]
    ):
        return None
    if not found:
        return ScenarioMatch(scenario="", confidence=0, method="words")
    start, end, rule, _ = found[0]
    return ScenarioMatch(
        scenario=rule.scenario, confidence=_SPOKEN_OF, method="words", matched=text[start:end]
    )


def _match_path(url: str | None, rules: tuple[ScenarioRule, ...]) -> ScenarioMatch | None:
    if url is None:
        return None
    try:
        form = normalize_url(url)
    except InvalidArgumentError:
        return None
    path = re.sub(r"^[a-z]+://[^/]*", "", form).partition("?")[0].lower()
    segments = {re.sub(r"\.\w{1,5}$", "", segment) for segment in re.split(r"[/#!]+", path)}
    for rule in rules:
        for part in rule.paths:
            if part in segments:
                return ScenarioMatch(scenario=rule.scenario, confidence=_BY_URL, method="url", matched=part)
    return None


# --- history -------------------------------------------------------------------------------------------------


class RecognitionHistory:
    """The latest `limit` sentences with their scenarios, without values."""

    def __init__(self, limit: int = 500) -> None:
        """Raise InvalidArgumentError for a limit below 1."""
        check_count("limit", limit, least=1)
        self._seen: deque[tuple[frozenset[str], str]] = deque(maxlen=limit)

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, sentence: str, scenario: str) -> None:
        """Add a sentence with its scenario. A sentence without words is ignored."""
        if tokens := _tokens(sentence):
            self._seen.append((tokens, scenario))

    def match(self, sentence: str) -> ScenarioMatch | None:
        """Return the scenario of the most similar sentence, or None. The latest one wins a tie.

        The confidence is the Jaccard similarity of the words, in percent. For Chinese, it compares character
        pairs.
        """
        tokens = _tokens(sentence)
        best, scenario = 0.0, ""
        for seen, of in reversed(self._seen):
            alike = len(tokens & seen) / len(tokens | seen) if tokens else 0.0
            if alike > best:
                best, scenario = alike, of
        return (
            ScenarioMatch(scenario=scenario, confidence=int(best * 100), method="history") if best else None
        )


def _tokens(sentence: str) -> frozenset[str]:
    """Return the words and the pairs of Chinese characters of a sentence, without values."""
    text = mask_values(sentence).lower()
    words = set(re.findall(r"[a-z0-9][a-z0-9'’_-]*", text))
    for run in re.findall(rf"[{HAN}]+", text):
        words.update({run} if len(run) == 1 else (run[place : place + 2] for place in range(len(run) - 1)))
    return frozenset(words)


# --- all of it -----------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Recognition:
    """The result of a recognition. `match` is None if no scenario is certain enough.

    `acts` is whether the sentence can be an instruction. For a question, a negation and a remark it is False,
    and `match` is the mentioned scenario. `remarks` lists failures, such as a failure of the classifier.
    """

    match: ScenarioMatch | None
    acts: bool = True
    remarks: tuple[str, ...] = ()


class ScenarioRecognizer:
    """A recognizer of scenarios by rules, a classifier and earlier sentences."""

    def __init__(
        self,
        rules: Iterable[ScenarioRule] = SCENARIO_RULES,
        *,
        classifier: Classifier | None = None,
        history: RecognitionHistory | None = None,
    ) -> None:
        """Use rules only, unless a classifier or a history is passed."""
        self._rules = tuple(rules)
        self._classifier = classifier
        self._history = history

    async def recognize(
        self, sentence: str, url: str | None = None, *, least: int = 60
    ) -> ScenarioMatch | None:
        """Return the scenario of a sentence, or None if no confidence reaches `least`.

        The order is: rules from confidence 90, the classifier from 70, the history from 60, and the other
        rules. The recognizer skips a classifier that raises, takes longer than 5 s or returns an invalid
        answer. A sentence without an instruction has no scenario.
        """
        found = await self.understand(sentence, url, least=least)
        return found.match if found.acts else None

    async def understand(
        self,
        sentence: str,
        url: str | None = None,
        *,
        least: int = 60,
        patience: float = CLASSIFYING,
        values: Mapping[str, str] = MappingProxyType({}),
    ) -> Recognition:
        """Return the scenario of any sentence, also of one without an instruction, and the failures.

        patience: the time limit of the classifier, in seconds, at most 5.
        values: the values of variables. The classifier does not receive them.
        """
        remark = match_remark(sentence, rules=self._rules)
        if remark is not None:
            return Recognition(match=remark if remark.scenario else None, acts=False)
        by_rules = match_rules(sentence, url, rules=self._rules)
        if by_rules is not None and by_rules.confidence >= SURE:
            return Recognition(match=by_rules)
        found: ScenarioMatch | None = None
        remarks: tuple[str, ...] = ()
        if self._classifier is not None:
            searches = by_rules is not None and by_rules.scenario == "search"
            masked = mask_for_classifier(sentence, values, searches=searches)
            address = None if url is None else mask_address(url, values)
            found, failure = await self._classify(
                self._classifier, masked, address, min(patience, CLASSIFYING)
            )
            remarks = (failure,) if failure else ()
        if found is None and self._history is not None:
            found = self._history.match(sentence)
            if found is not None and found.confidence < LEAST_ALIKE:
                found = None
        chosen = found or by_rules
        sure = chosen is not None and chosen.confidence >= least
        return Recognition(match=chosen if sure else None, remarks=remarks)

    async def _classify(
        self, classifier: Classifier, masked: str, url: str | None, patience: float
    ) -> tuple[ScenarioMatch | None, str]:
        """Return the classifier's answer if it is certain, or a description of its failure."""
        scenarios = tuple(dict.fromkeys(rule.scenario for rule in self._rules))
        try:
            address = None if url is None else normalize_url(url)
        except InvalidArgumentError:
            address = None
        with trio.move_on_after(patience) as asking:
            try:
                answer: object = await classifier(masked, address, scenarios)
            except Exception as error:  # noqa: BLE001 - a caller's own code; the rules decide then
                return None, f"the classifier raised {type(error).__name__}, and was passed over"
        if asking.cancelled_caught:
            return None, f"the classifier did not answer within {duration(patience)}, and was passed over"
        if answer is None:
            return None, ""
        if not _is_match(answer):
            return None, "the classifier's answer is not a ScenarioMatch with a confidence of 0 to 100"
        assert isinstance(answer, ScenarioMatch)
        sure = answer.confidence >= LEAST_CLASSIFIED
        return attrs.evolve(answer, method="classifier") if sure else None, ""


def _is_match(answer: object) -> bool:
    """Return whether a classifier's answer can be a scenario."""
    return (
        isinstance(answer, ScenarioMatch)
        and isinstance(answer.confidence, (int, float))
        and 0 <= answer.confidence <= 100
        and isinstance(answer.scenario, str)
        and _SCENARIO.fullmatch(answer.scenario) is not None
    )
