"""Values without naming words: "log in (bob, x9)". Pure.

Rule: such values are a list after the scenario's phrase, in brackets or after a colon. They are single words or
quoted. A list of ordinary words, scenarios or addresses has no values. The caller assigns the values in order,
and only if it has a variable for each item of the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cdpengine.cache.recognizing.instructions import CLAUSE
from cdpengine.cache.recognizing.scenario_rules import SCENARIO_RULES, phrases_of
from cdpengine.cache.recognizing.variable_rules import BRACKETS, HAN, LISTS, NO_VALUES, QUOTED, unquote

Span = tuple[int, int]

NO_VALUE = ""
"""Item of a list that is no value although the list has values."""

_MOST_PHRASES = 10
_LONGEST_LINK = 60
"""Maximum number of characters between the phrase and the list: "log in with these details:"."""

_PAIRS = {**BRACKETS, **LISTS}
_OPENING = re.compile(rf"(?<!\d)[:：](?!//|\d\d\b)|[{re.escape(''.join(BRACKETS))}]")
_LIST_IN_QUOTES = re.compile(rf"\s*[{''.join(LISTS)}](?=[^{''.join(LISTS.values())}]*[,，、;；/／])")
_QUOTATION = re.compile(rf"(?<![A-Za-z0-9])(?:{QUOTED})")
_ENDS = re.compile(
    r"[。！？!?\n](?=\s|$|\W)|\.(?=\s|$)|[,，、;；]?\s*(?:\b(?:and\s+then|then|but|after|before)\b|\band\s+(?=[a-z]+\s)|然后|之后|接着)",
    re.IGNORECASE,
)
_SEPARATORS = (re.compile("[,，、;；]"), re.compile(r"[/／|｜]"))
_AND = re.compile(r"(?:and\s+|[和与])", re.IGNORECASE)
_FILLERS = frozenset(
    (
        "please",
        "pls",
        "thanks",
        "thx",
        "cheers",
        "asap",
        "now",
        "ok",
        "okay",
        "谢谢",
        "请",
        "吧",
        "麻烦了",
        "多谢",
        "",
    )
)
"""Items of a list that are neither values nor instructions."""

_ORDINARY = NO_VALUES | frozenset(
    (
        "ahead", "already", "always", "automatically", "beta", "button", "carefully", "correctly", "directly",
        "done", "easy", "everything", "fast", "first", "home", "homepage", "immediately", "important", "later",
        "manually", "next", "no", "normally", "nothing", "once", "only", "quick", "quickly", "recommended",
        "right", "safely", "slowly", "soon", "step", "still", "success", "today", "twice", "urgent", "urgently",
        "welcome", "yes", "you",
        "立即", "马上", "现在", "尽快", "快点", "快", "首页", "后台", "必须", "可选", "重要", "紧急", "一下",
        "今天", "先", "再次", "重新", "直接", "自动", "手动", "必填", "选填",
    )
)  # fmt: skip
_PLACE = re.compile(
    r"[a-z]+://\S*|www\.\S+|(?:[\w-]+\.)+(?:com|org|net|io|dev|app|cn|de|uk|eu|jp|example|test|local)(?:[:/]\S*)?",
    re.IGNORECASE,
)


def find_unnamed(text: str, scenario: str | None, named: Sequence[Span]) -> tuple[str, ...]:
    """Return the values without naming words in the first list after a scenario's phrase.

    scenario: None for all scenarios. named: the spans of the named values, with their names.

    An item that is no value is `NO_VALUE`. A list without values gives ().
    """
    if scenario == "search":
        return ()
    for start, end in _find_lists(text, scenario, named):
        spans = _split(_mask(text[:start]) + _mask(text[start:end]), start, end)
        items = [_read_item(text[from_:to]) for from_, to in spans if not _is_in(from_, to, named)]
        values = tuple(item for item in items if item is not None)
        if any(values):
            return values
    return ()


def _mask(text: str) -> str:
    """Return a string of the same length without quoted strings."""
    return _QUOTATION.sub(lambda quoted: "\0" * len(quoted[0]), text)


def _find_lists(text: str, scenario: str | None, named: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans of the lists after the phrases of a scenario."""
    masked = _mask(text)
    rules = [
        rule for rule in SCENARIO_RULES if scenario in (None, rule.scenario) and rule.scenario != "search"
    ]
    ends = sorted(found.end() for rule in rules for found in phrases_of(rule.words).finditer(masked))
    for end in ends[:_MOST_PHRASES] or [0]:
        # Some quotes can also enclose a list, which the masked string does not contain.
        opening = _LIST_IN_QUOTES.match(text, end) or _OPENING.search(masked, end)
        if opening is None:
            continue
        place = opening.end() - 1
        if ends and (place - end > _LONGEST_LINK or CLAUSE.search(masked, end, place)):
            continue
        if text[place] in ":：":
            place = next((start for start, to in named if start < place < to), place + 1)
            place += len(text[place:]) - len(text[place:].lstrip())
        if text[place : place + 1] in BRACKETS or _LIST_IN_QUOTES.match(text, place):
            yield place + 1, _closing(text, place)
        else:
            stop = _ENDS.search(masked, place)
            yield place, len(text) if stop is None else stop.start()


def _closing(text: str, place: int) -> int:
    """Return the position of the bracket that closes the one at `place`, or the end of the string."""
    opening, depth = text[place], 0
    for position in range(place, len(text)):
        if text[position] == opening:
            depth += 1
        elif text[position] == _PAIRS[opening]:
            depth -= 1
            if depth == 0:
                return position
    return len(text)


def _split(masked: str, start: int, end: int) -> Iterator[Span]:
    """Yield the spans of the items of a list, without the space around them."""
    separator = next((each for each in _SEPARATORS if each.search(masked, start, end)), None)
    pauses = (
        []
        if separator is None
        else [(found.start(), found.end()) for found in separator.finditer(masked, start, end)]
    )
    for pause, after in [*pauses, (end, end)]:
        item = masked[start:pause]
        if link := _AND.match(item.lstrip()):
            item = item.lstrip()[link.end() :]
        yield pause - len(item.lstrip()), start + len(masked[start:pause].rstrip())
        start = after


def _is_in(start: int, end: int, named: Sequence[Span]) -> bool:
    return any(from_ < end and start < to for from_, to in named)


def _read_item(item: str) -> str | None:
    """Return the value of an item, `NO_VALUE`, or None for a filler."""
    if _QUOTATION.fullmatch(item):
        return unquote(item)
    item = item.rstrip(".。")
    if item.lower() in _FILLERS:
        return None
    words = re.fullmatch(rf"[^\s{HAN}]+|[{HAN}]{{1,4}}", item)
    if words is None or item.lower() in _ORDINARY or _PLACE.fullmatch(item) or _is_phrase(item):
        return NO_VALUE
    return item if re.search(r"\w", item) else NO_VALUE


def _is_phrase(item: str) -> bool:
    return any(phrases_of(rule.words).fullmatch(item) for rule in SCENARIO_RULES)
