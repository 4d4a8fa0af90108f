"""Values of variables in English and Chinese sentences: "log in as ada, password: hunter2". Pure.

Rule: a value follows a word that names it. It ends at white space, punctuation or the next naming word. A
quoted value extends to the closing quote. An implausible value is rejected and listed in `refused`, for
example an email address without "@" or a card number with a wrong check digit. A word that can be an ordinary
part of the sentence ("the password is required") is no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import attrs

from cdpengine._secrets import is_sensitive_name
from cdpengine.cache.recognizing.instructions import is_polite_question
from cdpengine.cache.recognizing.unnamed_values import NO_VALUE, find_unnamed
from cdpengine.cache.recognizing.variable_rules import (
    BRACKETS,
    HAN,
    LISTS,
    NEED_MARKS,
    NO_VALUES,
    QUERY,
    QUOTED,
    QUOTES,
    VARIABLE_RULES,
    VariableRule,
    forms_in_quotes,
    unquote,
)

LONGEST_SENTENCE = 4_000
"""Maximum length of a sentence, in characters. The rest is ignored."""


@attrs.frozen(kw_only=True)
class Extraction:
    """The values in a sentence, by variable name. `refused` are the variables with implausible values.

    `unnamed` are the values of a list without naming words, in order: "log in (bob, x9)". An item of the list
    that is no value is "". The `repr` contains no values.
    """

    values: Mapping[str, str] = attrs.field(repr=False)
    refused: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = attrs.field(default=(), repr=False)

    @property
    def sensitive(self) -> frozenset[str]:
        """The names of the sensitive variables, whose values are never shown."""
        return frozenset(name for name in self.values if is_sensitive_name(name))


def extract_variables(
    sentence: str, scenario: str, *, rules: Mapping[str, Iterable[VariableRule]] = VARIABLE_RULES
) -> Extraction:
    """Return the values of a scenario's variables in a sentence. Missing variables are omitted."""
    values: dict[str, str] = {}
    refused: dict[str, None] = {}
    named: list[tuple[int, int]] = []
    text = sentence[:LONGEST_SENTENCE]
    for rule, value, span in _find_values(text, _rules_of(scenario, rules)):
        named.append(span)
        if rule.name in values:
            continue
        if rule.check(value):
            values[rule.name] = value
        else:
            refused[rule.name] = None
    wrong = tuple(each for each in refused if each not in values)
    unnamed = find_unnamed(text, scenario, named)
    return Extraction(values=MappingProxyType(values), refused=wrong, unnamed=unnamed)


def is_plausible(name: str, value: str, scenario: str) -> bool:
    """Return whether a string can be the value of a variable. Variables without a rule accept any value."""
    checks = [rule.check for rule in _rules_of(scenario, VARIABLE_RULES) if rule.name == name]
    return value != NO_VALUE and all(check(value) for check in checks)


def find_values(sentence: str, scenario: str) -> Iterator[tuple[VariableRule, str]]:
    """Yield all values in a sentence by the rules of a scenario, including implausible ones."""
    found = _find_values(sentence[:LONGEST_SENTENCE], _rules_of(scenario, VARIABLE_RULES))
    return ((rule, value) for rule, value, _ in found)


def find_unnamed_values(sentence: str, scenario: str | None = None) -> tuple[str, ...]:
    """Return the values without naming words in a sentence. `scenario`: None if it is unknown."""
    text = sentence[:LONGEST_SENTENCE]
    rules = [
        _rules_of(each, VARIABLE_RULES) for each in (VARIABLE_RULES if scenario is None else (scenario,))
    ]
    named = [span for each in rules for *_, span in _find_values(text, each)]
    return tuple(value for value in find_unnamed(text, scenario, named) if value != NO_VALUE)


def _rules_of(scenario: str, rules: Mapping[str, Iterable[VariableRule]]) -> tuple[VariableRule, ...]:
    return tuple(rules[scenario] if scenario in rules else rules.get("form_fill", ()))


def _find_values(
    text: str, rules: tuple[VariableRule, ...]
) -> Iterator[tuple[VariableRule, str, tuple[int, int]]]:
    """Yield all values in a sentence in order, including implausible ones, with their spans and names."""
    named = list(_find_names(text, rules))
    for place, (start, end, rule, limit) in enumerate(named):
        until = named[place + 1][0] if place + 1 < len(named) else len(text)
        until = min(until, limit, _end_of_brackets(text, start, end))
        least = named[place - 1][1] if place else 0
        value = _value_before(text, least, start, rule, text[start:end]) or _value_behind(
            text, end, until, rule
        )
        if value is not None:
            place = text.find(value, end, until)
            yield rule, value, (start, until if place < 0 else place + len(value))


@lru_cache(maxsize=100)
def _expression(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the regular expression for these words, longest first. ASCII words match as whole words."""
    ordered = sorted(words, key=len, reverse=True)
    pieces = [
        rf"(?<![A-Za-z0-9_]){re.escape(word).replace(chr(92) + ' ', '[' + chr(92) + 's_-]+')}(?![A-Za-z0-9_])"
        if word.isascii()
        else re.escape(word)
        for word in ordered
    ]
    return re.compile("|".join(pieces) or r"(?!)", re.IGNORECASE)


def _find_names(text: str, rules: tuple[VariableRule, ...]) -> Iterator[tuple[int, int, VariableRule, int]]:
    """Yield (start, end, rule, latest end of the value) of each naming word outside quotes.

    A longer naming word hides the words inside it.
    """
    words = [(start, end, rule) for rule in rules for start, end in _find_words(text, rule)]
    ends = frozenset(end for _, end, _ in words)
    quoted: list[tuple[int, int]] = []
    lists: list[tuple[int, int]] = []
    keys: dict[int, int] = {}
    for found in re.finditer(rf"(?<![A-Za-z0-9])(?:{QUOTED})", text):
        if any((start, end) == (found.start() + 1, found.end() - 1) for start, end, _ in words) and (
            _MARK.match(text, found.end())
        ):
            keys[found.start() + 1] = found.end()  # a quoted name, as in JSON
        elif _is_list(text, found, rules, ends):
            lists.append((found.start(), found.end() - 1))
        else:
            quoted.append(found.span())
    last = 0
    queried = False
    for start, end, rule in sorted(words, key=lambda each: (each[0], -each[1])):
        if start < last or any(opening < start < closing for opening, closing in quoted):
            continue
        if last and _is_value(text, last, start, end, words):
            continue
        # The words after "search for" are content: "search for search engines".
        if rule is QUERY and queried and not _MARK.match(text, end) and not _PAUSE.search(text, last, start):
            continue
        queried = queried or rule is QUERY
        last = keys.get(start, end)
        yield start, last, rule, min((to for from_, to in lists if from_ < start < to), default=len(text))


def _is_value(text: str, last: int, start: int, end: int, words: list[tuple[int, int, VariableRule]]) -> bool:
    """Return whether a naming word is itself a value, such as "account" in "username: account".

    It is a value right after a naming word and ":", unless it is followed by a value of its own.
    """
    if not _MARKED.fullmatch(text, last, start) or text[:last].lower().endswith("as"):
        return False
    if any(other == start and further > end for other, further, _ in words) or _MARK.match(text, end):
        return False
    follows = re.compile(rf"\s*(?:{QUOTED})|\s+([\w.@+-]+)").match(text, end)
    if follows is None:
        return True
    if follows[1] is None:
        return False
    return follows[1].lower() in NO_VALUES or any(other == follows.start(1) for other, _, _ in words)


_PAUSE = re.compile(r"[,，。；;!！?？\n]|\b(?:and|then)\b|然后|再|并")
_MARK = re.compile(r"\s*[:：=＝]")
_MARKED = re.compile(r"\s*[:：=＝]\s*")
_SIGNS_IN = re.compile(
    r"\b(?:log|sign)(?:g?ing)?(?:\s+(?:me|us|back|him|her|them|everyone|the\s+user)){0,2}\s*(?:in|on)(?:to)?\b"
    r"[^,.;:!?，。；：！？]{0,80}$",
    re.IGNORECASE,
)
_AS = re.compile(
    r"(?<![A-Za-z])as(?=\s+(?!soon\b|well\b|usual\b|before\b|fast\b|quickly\b|if\b))", re.IGNORECASE
)


_WITH_ADDRESS = re.compile(
    r"(?<![A-Za-z])(?:with|using)(?=\s+[\w.%+-]+@[\w-]+\.\w)|使?用(?=\s*[A-Za-z0-9_.%+-]+@[\w.-]+?\s*来?登[录陆入])",
    re.IGNORECASE,
)


def _find_words(text: str, rule: VariableRule) -> Iterator[tuple[int, int]]:
    """Yield the spans of a rule's words: `NEED_MARKS` only before a mark, "as" only after "log in".

    "with" before an e-mail address names the user after "log in" too.
    """
    for found in _expression(rule.words).finditer(text):
        if found[0].lower() in NEED_MARKS and not _MARK.match(text, found.end()):
            continue
        if found[0] != "以" or not _OTHER_WORD.match(text, max(0, found.start() - 1)):
            yield found.span()
    if rule.name == "username":
        for found in (*_AS.finditer(text), *_WITH_ADDRESS.finditer(text)):
            if "用" in found[0] or _SIGNS_IN.search(text, max(0, found.start() - 120), found.start()):
                yield found.span()


_OTHER_WORD = re.compile(r"[可所得足难予加给何]以|.?以(?:[后前及下上外内便免为]|[後內為])")
"""Words that contain "以" ("as") but have a different meaning."""

_LISTS_VALUES = re.compile(r"(?:^|[:：,，、;；(（\[【{/]|\b(?:and|with|using)|[和与及用])\s*$", re.IGNORECASE)


def _is_list(
    text: str, quotation: re.Match[str], rules: tuple[VariableRule, ...], ends: frozenset[int]
) -> bool:
    """Return whether a quotation is a list of named values instead of one value.

    ends: the end positions of the naming words.
    """
    inner = quotation[0][1:-1]
    named = [start for rule in rules for start, end in _find_words(inner, rule) if _MARK.match(inner, end)]
    if quotation[0][0] in LISTS:
        return bool(named)
    before = text[: quotation.start()]
    link = re.search(r"\s*(?:[:：=＝]|是|为|(?<![A-Za-z])is)?\s*$", before)
    assert link is not None
    return 0 in named and link.start() not in ends and _LISTS_VALUES.search(before) is not None


def _end_of_brackets(text: str, start: int, end: int) -> int:
    """Return the position of the closing bracket around this range, or the end of the string."""
    open_: list[str] = []
    pairs = {**BRACKETS, **LISTS}
    for each in text[:start]:
        if each in pairs:
            open_.append(pairs[each])
        elif open_ and each == open_[-1]:
            open_.pop()
    if not open_:
        return len(text)
    closing = re.compile(rf"{re.escape(open_[-1])}(?![A-Za-z0-9])").search(text, end)
    return len(text) if closing is None else closing.start()


_LINK = re.compile(
    r"\s*(?:是|为|(?:设置?|修?改|更改|更新|换|变|调整?|切换)(?:为|成|到)|(?:is|to|as|of)(?![A-Za-z0-9_]))?"
    r"\s*(?P<mark>[:：=＝])?\s*",
    re.IGNORECASE,
)


def _value_behind(text: str, end: int, until: int, rule: VariableRule) -> str | None:
    """Return the value after its naming word, or None."""
    link = _LINK.match(text, end)
    assert link is not None
    start = link.end()
    if quoted := re.compile(QUOTED).match(text, start):
        return unquote(quoted[0])
    if start >= len(text) or start >= until or (link["mark"] is None and _SIGNS.match(text, start)):
        return None
    closing = text.find(BRACKETS.get(text[start], "\0"), start, until)
    if closing != -1 and re.fullmatch(rule.value, inner := text[start + 1 : closing].strip()):
        return None if inner.lower() in NO_VALUES else inner  # "username (alice)"
    found = re.compile(rule.value).match(text, start, until)
    if found is None:
        return None
    value = _end_value(found[0])
    if rule is QUERY and is_polite_question(text):
        value = re.sub("[吗嗎嘛吧]$", "", value)
    if rule is QUERY and (place := _PLACE_SEARCHED.match(value)):
        value = place[1].strip("".join(QUOTES) + "”’」』")
    if re.search(r"\w", value) is None and not link["mark"]:
        return None
    if not value or (
        link["mark"] is None
        and (
            value.lower() in (_DETERMINERS if _NAMES_PEOPLE.search(text, 0, end) else NO_VALUES)
            or (rule is not QUERY and _PART_OF_NAME.match(value))
        )
    ):
        return None
    return value


_SIGNS = re.compile(r"(?:log|sign|check)(?:g?ing)?\s+(?:me\s+|us\s+)?(?:in|on|out|off)\b", re.IGNORECASE)
"""An instruction after a naming word, which is no value: "use this account to log in"."""

_PLACE_SEARCHED = re.compile(
    r"(?:(?:(?:the|this|our|your|my)\s+)?(?:web\s*site|site|page|catalog(?:ue)?|shop|store|web|internet|database|list"
    r"|products?|library|docs|documentation)|\S+\.[a-z]+)\s+for\s+(.+)",
    re.IGNORECASE,
)
"""The words between "search" and the query in "search the site for shoes"."""

_PART_OF_NAME = re.compile(
    "设置|资料|中心|信息|安全|登录|登陆|管理"
    r"|(?:settings|preferences|profile|details|information|security|center|centre|overview|menu|button)\b",
    re.IGNORECASE,
)
"""Words that change the meaning of the naming word before them: "账号设置", "account settings"."""

_NAMES_PEOPLE = re.compile(r"\bas$", re.IGNORECASE)
_DETERMINERS = frozenset(("a", "an", "the", "my", "your", "our", "this", "that", "it", "i", "required"))
"""Words that are no user name after "as". Other `NO_VALUES` can be user names: "log in as will"."""


def _end_value(value: str) -> str:
    """Return a value without the words that connect it to the next part of the sentence."""
    value = value.rstrip()
    if len(value) > 2 and BRACKETS.get(value[0]) == value[-1]:
        value = value[1:-1].strip()
    value = (
        re.sub(r"[,，。；;、!！?？.]+$", "", value)
        if re.search(r"[A-Za-z0-9\u3400-\u9fff]", value)
        else value
    )
    value = _NEXT_ACTION.sub("", value)
    return re.sub(
        rf"(?:\s+(?:and|with|then|on\s+\S+\.\S+|please|for\s+me|thanks)|(?<=[\s{HAN}])(?:和|与|并|然后|谢谢))$",
        "",
        value,
    ).strip()


_NEXT_ACTION = re.compile(
    r"\s+(?:and\s+then\s|and\s+(?:please\s+)?(?:open|click|press|select|choose|pick|sort|filter|buy|add|go\s+to|take"
    r"|print|show|read|download|save|compare|tell|give|list|log|sign|check\s+out|return|report|copy|visit|scroll|close"
    r"|put|pay|view|fill)\b).*$"
    r"|(?:并且?|然后|接着|之后|再)(?:打开|点击?|选|登[录陆出]|退出|结账|加入|截|排序|查看|下单|购买|按|把|告诉|填写).*$",
    re.IGNORECASE,
)
"""The next instruction after a value with possible spaces: "search for hats and open the first one"."""


def _value_before(text: str, least: int, start: int, rule: VariableRule, word: str) -> str | None:
    """Return the value before its naming word, as in "用 ada 账号", or None."""
    if word not in rule.before:
        return None
    found = re.search(rf"(?:用|使用|以)\s*(?:({QUOTED})|([A-Za-z0-9._@+\-]+))\s*的?\s*$", text[least:start])
    return None if found is None else found[2] or unquote(found[1])


def mask_values(sentence: str, scenario: str | None = None) -> str:
    """Return a sentence without its values and without quoted strings: "log in as ..."."""
    text = sentence[:LONGEST_SENTENCE]
    found = {
        form
        for each in (VARIABLE_RULES if scenario is None else (scenario,))
        if each != "search"
        for _, value, _ in _find_values(text, _rules_of(each, VARIABLE_RULES))
        if value
        for form in forms_in_quotes(value)
    }
    found.update(find_unnamed_values(sentence, scenario))
    text = re.sub(rf"(?<![A-Za-z0-9])(?:{QUOTED})", "...", text)
    for form in sorted(found, key=len, reverse=True):
        text = text.replace(form, "...")
    return text
