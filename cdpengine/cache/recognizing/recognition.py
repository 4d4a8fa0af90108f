"""Recognition: which scenario a sentence is about, how sure that is, and how it was found.

Rule: words are words. An English phrase is found between the limits of words, a Chinese one where no longer one
that means something else stands ("退出登录" is logout). What is in quotes, and what is searched for, is content
and no instruction. A phrase that asks for nothing ("do not log in", "the login page") counts for nothing: see
`instructions`. Rules that are sure come first, then a classifier, then earlier sentences that were alike, then
rules that are less sure. A classifier that fails or takes too long is passed over. A URL alone is a hint, and
never enough by itself unless less is asked for.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

import attrs
import trio

from cdpengine.cache.addresses import normalize_url
from cdpengine.cache.recognizing.instructions import CLAUSE, asks_nothing, is_instruction
from cdpengine.cache.recognizing.masking import mask_address, mask_for_classifier
from cdpengine.cache.recognizing.scenario_rules import SCENARIO_RULES, SURE, ScenarioRule
from cdpengine.cache.recognizing.sentences import LONGEST_SENTENCE, mask_values
from cdpengine.cache.recognizing.variable_rules import HAN, QUOTED
from cdpengine.errors import InvalidArgumentError

Method = Literal["words", "words and url", "url", "classifier", "history"]

LEAST_CLASSIFIED, LEAST_ALIKE = 70, 60
"""The confidence from which a classifier and the history are taken, from 0 to 100."""

_AMBIGUOUS, _BY_URL, _AGREES, _SPOKEN_OF = 25, 50, 5, 40
"""What a second scenario in one sentence takes away; what a URL alone is worth; what one that agrees adds.

The last is the confidence of a scenario that a sentence only speaks of.
"""

ASKS_NOTHING = "the sentence asks for nothing: it is a question, a negation or a remark"

CLASSIFYING = 5.0
"""Seconds that a classifier has for an answer."""

_MOST_PHRASES = 50
"""Phrases of a sentence that are looked at, so that no sentence takes long."""

_SCENARIO = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)


_QUOTATION = re.compile(rf"(?<![A-Za-z0-9])(?:{QUOTED})")


@attrs.frozen(kw_only=True)
class ScenarioMatch:
    """A scenario that was recognised, how sure it is (0 to 100), and by what.

    `matched` is the phrase or the part of the path; "" for the others. `others` are the further scenarios that the
    sentence names, in order.
    """

    scenario: str
    confidence: int
    method: Method
    matched: str = ""
    others: tuple[str, ...] = ()


Classifier = Callable[[str, str | None, tuple[str, ...]], Awaitable[ScenarioMatch | None]]
"""Gets the sentence with `${name}` in place of values, the URL in its one form, and the scenarios."""


def match_rules(
    sentence: str, url: str | None = None, *, rules: Iterable[ScenarioRule] = SCENARIO_RULES
) -> ScenarioMatch | None:
    """Return the scenario that rules find; None where no rule is for it.

    Where a sentence names several, the first is the one, with less confidence.
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
    """Return the rules whose phrases ask for their scenario, with these phrases, in order."""
    text = _QUOTATION.sub(lambda quoted: "\0" * len(quoted[0]), sentence)
    return [(rule, text[start:end]) for start, end, rule, asked in _find_phrases(text, rules) if asked]


def _find_phrases(text: str, rules: tuple[ScenarioRule, ...]) -> list[tuple[int, int, ScenarioRule, bool]]:
    """Return the phrases of rules outside of content, and whether each asks for something, in order."""
    spans = [
        (found.start(), found.end(), rule) for rule in rules for found in _phrases(rule.words).finditer(text)
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
        asked = is_instruction(text, start, end, content=rule.takes_content, place=rule.is_place)
        if rule.takes_content and asked:
            pause = CLAUSE.search(text, end)
            content_until = pause.start() if pause is not None else len(text)
        found_phrases.append((start, end, rule, asked))
    return found_phrases


def match_remark(sentence: str, *, rules: Iterable[ScenarioRule] = SCENARIO_RULES) -> ScenarioMatch | None:
    """Return the scenario that a sentence speaks of without asking for anything; None for other sentences.

    Its name is "" for a question about nothing that is known.
    """
    text = _QUOTATION.sub(lambda quoted: "\0" * len(quoted[0]), sentence[:LONGEST_SENTENCE])
    found = _find_phrases(text, tuple(rules))
    if any(asked for *_, asked in found) or not asks_nothing(
        text, [(start, end) for start, end, *_ in found]
    ):
        return None
    if not found:
        return ScenarioMatch(scenario="", confidence=0, method="words")
    start, end, rule, _ = found[0]
    return ScenarioMatch(
        scenario=rule.scenario, confidence=_SPOKEN_OF, method="words", matched=text[start:end]
    )


_SPACE = r"\s+"


@lru_cache(maxsize=100)
def _phrases(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the expression of any of these phrases, the longest first."""
    pieces = [
        rf"(?<![A-Za-z0-9_@/.-]){_SPACE.join(map(re.escape, phrase.split()))}(?![A-Za-z0-9_@/-]|\.\w)"
        if phrase.isascii()
        else re.escape(phrase)
        for phrase in sorted(words, key=len, reverse=True)
    ]
    return re.compile("|".join(pieces) or r"(?!)", re.IGNORECASE)


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
    """Earlier sentences with their scenarios: the latest `limit` of them, without the values that they said."""

    def __init__(self, limit: int = 500) -> None:
        """Raise InvalidArgumentError for a limit below 1."""
        if limit < 1:
            raise InvalidArgumentError("limit", str(limit), "1 or more")
        self._seen: deque[tuple[frozenset[str], str]] = deque(maxlen=limit)

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, sentence: str, scenario: str) -> None:
        """Remember what a sentence was about. A sentence without words is passed over."""
        if tokens := _tokens(sentence):
            self._seen.append((tokens, scenario))

    def match(self, sentence: str) -> ScenarioMatch | None:
        """Return the scenario of the sentence that was most alike, the latest of these; None where none was.

        The confidence is Jaccard's similarity of their words, in percent; in Chinese, of pairs of characters.
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
    """Return the words of a sentence, and the pairs of characters of what is Chinese, without values."""
    text = mask_values(sentence).lower()
    words = set(re.findall(r"[a-z0-9][a-z0-9'’_-]*", text))
    for run in re.findall(rf"[{HAN}]+", text):
        words.update({run} if len(run) == 1 else (run[place : place + 2] for place in range(len(run) - 1)))
    return frozenset(words)


# --- all of it -----------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Recognition:
    """What a sentence is about. `match` is None where nothing is sure enough.

    `acts`: whether the sentence may ask for something. A question, a negation and a remark do not; their `match`
    is the scenario that they speak of. `remarks` say what failed on the way.
    """

    match: ScenarioMatch | None
    acts: bool = True
    remarks: tuple[str, ...] = ()


class ScenarioRecognizer:
    """Recognises scenarios by rules, a classifier and earlier sentences."""

    def __init__(
        self,
        rules: Iterable[ScenarioRule] = SCENARIO_RULES,
        *,
        classifier: Classifier | None = None,
        history: RecognitionHistory | None = None,
    ) -> None:
        """Without a classifier, and without a history, these are passed over."""
        self._rules = tuple(rules)
        self._classifier = classifier
        self._history = history

    async def recognize(
        self, sentence: str, url: str | None = None, *, least: int = 60
    ) -> ScenarioMatch | None:
        """Return the scenario of a sentence; None where nothing is as sure as `least`.

        Rules come first where they are sure (90); then the classifier (70), the history (60), and the rules again.
        A classifier that raises, takes longer than 5 s or answers with nonsense is passed over. A sentence that
        asks for nothing has no scenario.
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
        """Return what a sentence is about, also where it asks for nothing, and what failed on the way.

        patience: seconds that the classifier has, at most 5. values: those of variables, which it does not get.
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
        """Return the classifier's answer, if it is sure, or how the classifier failed."""
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
            return None, f"the classifier did not answer within {patience:g} s, and was passed over"
        if answer is None:
            return None, ""
        if not _is_match(answer):
            return None, "the classifier's answer is no ScenarioMatch with a confidence of 0 to 100"
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
