"""Conditional clauses in a sentence: "if you are not logged in, log in". Pure.

Rule: an instruction with a condition never causes an action, because the cache does not evaluate conditions.
A condition applies to all that follows it in the sentence. A condition at the end of a sentence also applies to
the instruction before it ("log in if needed"). Polite forms ("if you please") are no conditions.
"""

from __future__ import annotations

import re

_HAN = r"\u3400-\u9fff"
_PEOPLE = "i|you|we|they|he|she|it|one|users?|people|someone|everyone|anyone"

_ENGLISH = (
    r"(?<![A-Za-z])(?:"
    r"(?<!even\s)(?<!as\s)(?<!what\s)if\b"
    r"(?!\s+you(?:\s+(?:please|like|would|could|can|don['’]?t\s+mind)|['’]d\s+(?:be\s+so\s+kind|like))\s*(?:[,，.;!?]|$))"
    r"|unless\b|whenever\b|provided\s+(?:that\s+)?(?=\w)|assuming\s+(?=\w)|in\s+case\b|in\s+the\s+event\b"
    r"|as\s+(?:soon|long)\s+as\b|(?:the\s+moment|every\s+time|each\s+time)\s+(?=\w)"
    rf"|(?<!at\s)once\s+(?=(?:{_PEOPLE}|the|this|that|your|my|our|all|every|there)\b)"
    r"|(?:only\s+)?when\b(?!\s+to\b)"
    r")"
)
_CHINESE = (
    "如果|假如|假使|假设|倘若|要是|万一|一旦|除非|只要|仅当|每当|只有(?=.*才)"
    "|(?<![A-Za-z\u3400-\u9fff])若(?!干)|[,，。；;]若(?!干)"
    "|当(?![前然天日地作成中做])(?=[^。；;!！?？\n]{1,30}?(?:的时候|时|之?后))"
    "|(?<![说讲写听])的话(?=\\s*(?:[,，就则再请才，。!！]|$))"
    f"|(?<=[{_HAN}])(?:的时候|时)\\s*[,，]?\\s*(?:就|才|再)"
)
_POLITE_CHINESE = (
    "(?:如果|要是)?[您你]?(?:方便|可以|不介意|有空)的话|如果(?:[您你])?(?:方便|可以|不介意)(?=\\s*[,，])"
)
_CONDITION = re.compile(f"(?P<polite>{_POLITE_CHINESE})|(?P<condition>{_ENGLISH}|{_CHINESE})", re.IGNORECASE)
_FRONTED = re.compile(
    r"^\s*(?:(?:and|but|or|so|then|please)\s+)?(?:should|had|were)\s+(?:the|it|you|we|i|they|he|she|there|a|an)\b",
    re.IGNORECASE,
)
_ONLY_THEN = re.compile("才(?:能|会|可以|可|需要?|要|去)?\\s*$")
"""A word before a phrase that makes the clause before it a condition."""


def is_conditional(sentence: str, start: int, end: int, *, content: bool) -> bool:
    """Return whether the phrase from `start` to `end` depends on a condition in its sentence.

    content: the words after the phrase are content, so that no condition is searched in them.
    """
    if _FRONTED.match(sentence) or _ONLY_THEN.search(sentence[:start]):
        return True
    places = [found.start() for found in _CONDITION.finditer(sentence) if found["condition"]]
    if any(place < start for place in places):
        return True
    if content:
        form = re.compile(r"\s*(?:(?:the|this|that|my)\s+)?form\s+", re.IGNORECASE).match(sentence, end)
        return form is not None and form.end() in places
    return any(_is_trailing(sentence, place, end) for place in places)


_PAUSES = re.compile(r"[,，、;；:：]|\band\b|\bthen\b|\bbut\b|然后|并", re.IGNORECASE)


def _is_trailing(sentence: str, place: int, end: int) -> bool:
    """Return whether the condition at `place` applies to the phrase before it, which ends at `end`.

    After a pause, a condition with a main clause of its own belongs to that clause: "log in, and if a banner
    appears, close it".
    """
    if not _PAUSES.search(sentence, end, place):
        return True
    return (
        re.search(r"[,，]\s*\w", sentence[place:]) is None and re.search("就|则|请", sentence[place:]) is None
    )
