"""Values of variables, as a sentence in English or Chinese says them: "log in as ada, password: hunter2". Pure.

Rule: a value stands behind a word that names it, or in quotes behind one, and ends where it ends: at white space,
at punctuation, at the next word that names a value. What is in quotes is taken whole. A value that cannot be what
it is named (an email address without "@", a card number whose check digit is wrong) is not taken, and is named in
`refused`. A word that may as well be a part of the sentence ("the password is required") is no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import attrs

from cdpengine.cache.variables import is_sensitive_name

LONGEST_SENTENCE = 4_000
"""Characters of a sentence; what is behind them is not looked at."""

QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "`": "`"}

_HAN = r"\u3400-\u9fff"
_QUOTED = "|".join(rf"{opening}[^{closing}]*{closing}" for opening, closing in QUOTES.items())
_NO_VALUES = frozenset(
    [
        "a",
        "again",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "box",
        "by",
        "can",
        "field",
        "for",
        "from",
        "has",
        "here",
        "i",
        "if",
        "in",
        "input",
        "into",
        "invalid",
        "is",
        "it",
        "its",
        "link",
        "manager",
        "my",
        "name",
        "not",
        "now",
        "of",
        "on",
        "or",
        "page",
        "please",
        "policy",
        "required",
        "reset",
        "section",
        "should",
        "so",
        "something",
        "that",
        "the",
        "them",
        "then",
        "there",
        "this",
        "to",
        "using",
        "was",
        "will",
        "with",
        "wrong",
        "your",
        "and/or",
    ]
)
"""Words of a sentence that are no value when they stand behind the word that names one, without quotes."""


@attrs.frozen(kw_only=True)
class VariableRule:
    """How a sentence says the value of a variable.

    words: what names it, in small letters; the value follows.
    value: a regular expression of what can be taken without quotes; it begins where the value does.
    check: says whether a text can be the value at all, quoted or not.
    before: words that may follow the value in place of naming it before, as in "用 ada 账号".
    """

    name: str
    words: tuple[str, ...]
    value: str
    check: Callable[[str], bool]
    before: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Extraction:
    """What a sentence says: `values` by the names of variables. `refused` are those whose value cannot be right.

    `sensitive` are the names whose values are shown nowhere. Values are not in the `repr`.
    """

    values: Mapping[str, str] = attrs.field(repr=False)
    refused: tuple[str, ...] = ()

    @property
    def sensitive(self) -> frozenset[str]:
        """The names of `values` that are sensitive."""
        return frozenset(name for name in self.values if is_sensitive_name(name))


# --- what values look like -----------------------------------------------------------------------------------


def _is_email(text: str) -> bool:
    return re.fullmatch(r"[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+", text) is not None and len(text) <= 254


def _is_phone(text: str) -> bool:
    return re.fullmatch(r"\+?[\d ().-]+", text) is not None and 5 <= len(re.sub(r"\D", "", text)) <= 15


def _is_card(text: str) -> bool:
    """Say whether it is the number of a card: 12 to 19 digits, the last a check digit (Luhn; ISO/IEC 7812-1)."""
    digits = re.sub(r"[ -]", "", text)
    if re.fullmatch(r"[0-9]{12,19}", digits) is None:
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _matches(expression: str) -> Callable[[str], bool]:
    compiled = re.compile(expression, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def _is_line(text: str) -> bool:
    return 0 < len(text) <= 256 and text.isprintable() and text.strip() == text


_BRACKETS = {
    "(": ")",
    "[": "]",
    "{": "}",
    "<": ">",
    "（": "）",
    "【": "】",
    "《": "》",
    "〈": "〉",
    "〔": "〕",
    "［": "］",
}
_LISTS = {"「": "」", "『": "』"}
"""Quotes that may also stand around a list of values, as brackets do."""

_ENDS = re.escape("".join(_BRACKETS) + "".join(_BRACKETS.values()))
_WORD = rf"[A-Za-z0-9._@+\-]+(?![^\s{_HAN},，。；;、!！?？:：=＝」』／｜{_ENDS}])|[{_HAN}]+"
_TOKEN = r"[!-~]+"  # noqa: S105 - printable ASCII without spaces, not a secret
_CLAUSE = r"[^\n,，。；;、!！?？]+"

_USERNAME = VariableRule(
    name="username",
    words=(
        "username", "user name", "user id", "user", "account name", "account", "login name", "log in as",
        "login as", "sign in as", "logged in as", "用户名", "用户", "账号", "帐号", "账户", "帐户", "以",
        "用戶名", "使用者名稱", "帳號", "帳戶",
    ),
    value=_WORD,
    check=lambda text: _is_line(text) and len(text) <= 128,
    before=("账号", "帐号", "账户", "帐户", "用户", "的身份", "身份", "登录", "登陆"),
)  # fmt: skip
_PASSWORD = VariableRule(
    name="password",
    words=("password", "passwd", "pwd", "pass phrase", "passphrase", "pass", "密码", "口令", "密碼"),
    value=_TOKEN,
    check=_is_line,
)
_EMAIL = VariableRule(
    name="email",
    words=(
        "email address", "e-mail address", "email", "e-mail", "mail",
        "电子邮箱", "电子邮件", "邮箱", "邮件地址", "邮件",
    ),
    value=r"[A-Za-z0-9._%+\-@]+",
    check=_is_email,
)  # fmt: skip
_PHONE = VariableRule(
    name="phone",
    words=(
        "phone number", "phone", "telephone", "mobile number", "mobile",
        "手机号码", "手机号", "手机", "电话号码", "电话",
    ),
    value=r"\+?\d[\d ().\-]*\d",
    check=_is_phone,
)  # fmt: skip
_CODE = VariableRule(
    name="code",
    words=(
        "verification code",
        "security code",
        "one-time code",
        "otp",
        "code",
        "验证码",
        "校验码",
        "动态码",
    ),
    value=r"[A-Za-z0-9\-]+",
    check=_matches(r"[A-Za-z0-9-]{3,12}"),
)
_NAME = VariableRule(
    name="name",
    words=("full name", "display name", "nickname", "name", "姓名", "名字", "昵称", "收货人", "收件人"),
    value=_CLAUSE,
    check=lambda text: _is_line(text) and len(text) <= 128,
)
_ADDRESS = VariableRule(
    name="address",
    words=("shipping address", "delivery address", "address", "收货地址", "地址"),
    value=r"[^\n，。；;！？]+",
    check=_is_line,
)
_CARD = VariableRule(
    name="card_number",
    words=(
        "credit card number",
        "card number",
        "credit card",
        "card",
        "信用卡号",
        "银行卡号",
        "卡号",
        "信用卡",
    ),
    value=r"\d[\d \-]*\d",
    check=_is_card,
)
_EXPIRY = VariableRule(
    name="card_expiry",
    words=("expiration date", "expiry date", "expires", "expiry", "exp", "有效期"),
    value=r"\d{1,2}\s?/\s?\d{2,4}",
    check=_matches(r"(0?[1-9]|1[0-2])\s?/\s?(\d{2}|20\d{2})"),
)
_CVV = VariableRule(
    name="cvv",
    words=("security code", "cvv", "cvc", "安全码"),
    value=r"\d+",
    check=_matches(r"\d{3,4}"),
)
_COUPON = VariableRule(
    name="coupon",
    words=("coupon code", "promo code", "coupon", "voucher", "优惠码", "优惠券"),
    value=r"[A-Za-z0-9_\-]+",
    check=_matches(r"[A-Za-z0-9_-]{2,64}"),
)
_QUERY = VariableRule(
    name="query",
    words=(
        "search for", "search", "look up", "look for", "find", "query",
        "搜索一下", "搜索", "搜一下", "查找", "查询", "检索", "寻找", "找一下",
    ),
    value=_CLAUSE,
    check=lambda text: _is_line(text) and text.lower() not in _NO_VALUES,
)  # fmt: skip
_LANGUAGE = VariableRule(
    name="language",
    words=("language to", "language", "语言为", "语言"),
    value=rf"[A-Za-z\-]+|[{_HAN}]+",
    check=lambda text: _is_line(text) and len(text) <= 64,
)

VARIABLE_RULES: Mapping[str, tuple[VariableRule, ...]] = MappingProxyType(
    {
        "login": (_USERNAME, _PASSWORD, _EMAIL, _PHONE, _CODE),
        "logout": (),
        "search": (_QUERY,),
        "checkout": (_CARD, _EXPIRY, _CVV, _COUPON, _NAME, _ADDRESS, _EMAIL, _PHONE),
        "settings": (_USERNAME, _PASSWORD, _EMAIL, _PHONE, _NAME, _LANGUAGE),
        "form_fill": (_USERNAME, _PASSWORD, _EMAIL, _PHONE, _CODE, _NAME, _ADDRESS),
    }
)
"""By scenario.

Another mapping can be passed in its place; a scenario that is not in it has the rules of form_fill.
"""


def extract_variables(
    sentence: str, scenario: str, *, rules: Mapping[str, Iterable[VariableRule]] = VARIABLE_RULES
) -> Extraction:
    """Return what a sentence says of the variables of a scenario. What it does not say is not there."""
    values: dict[str, str] = {}
    refused: dict[str, None] = {}
    for rule, value in _find_values(sentence[:LONGEST_SENTENCE], _rules_of(scenario, rules)):
        if rule.name in values:
            continue
        if rule.check(value):
            values[rule.name] = value
        else:
            refused[rule.name] = None
    wrong = tuple(each for each in refused if each not in values)
    return Extraction(values=MappingProxyType(values), refused=wrong)


def _rules_of(scenario: str, rules: Mapping[str, Iterable[VariableRule]]) -> tuple[VariableRule, ...]:
    return tuple(rules[scenario] if scenario in rules else rules.get("form_fill", ()))


def _find_values(text: str, rules: tuple[VariableRule, ...]) -> Iterator[tuple[VariableRule, str]]:
    """Yield all values that a sentence says, those that cannot be right included, in order."""
    named = list(_find_names(text, rules))
    for place, (start, end, rule) in enumerate(named):
        until = named[place + 1][0] if place + 1 < len(named) else len(text)
        until = min(until, _end_of_brackets(text, start, end))
        least = named[place - 1][1] if place else 0
        value = _value_before(text, least, start, rule, text[start:end]) or _value_behind(
            text, end, until, rule
        )
        if value is not None:
            yield rule, value


@lru_cache(maxsize=100)
def _expression(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the expression of any of these words: those of letters as whole words, the longest first."""
    ordered = sorted(words, key=len, reverse=True)
    pieces = [
        rf"(?<![A-Za-z0-9_]){re.escape(word).replace(chr(92) + ' ', chr(92) + 's+')}(?![A-Za-z0-9_])"
        if word.isascii()
        else re.escape(word)
        for word in ordered
    ]
    return re.compile("|".join(pieces) or r"(?!)", re.IGNORECASE)


def _find_names(text: str, rules: tuple[VariableRule, ...]) -> Iterator[tuple[int, int, VariableRule]]:
    """Yield where values are named, and by which rule; a longer name hides what is in it. Not in quotes."""
    quoted = [
        found.span()
        for found in re.finditer(rf"(?<![A-Za-z0-9])(?:{_QUOTED})", text)
        if not (found[0][0] in _LISTS and _is_list(found[0], rules))
    ]
    found_names = [
        (start, end, rule)
        for rule in rules
        for start, end in _find_words(text, rule)
        if not any(opening < start < closing for opening, closing in quoted)
    ]
    last = 0
    for start, end, rule in sorted(found_names, key=lambda each: (each[0], -each[1])):
        if start >= last:
            # A word right behind a name and ":" is a value, and names none: "username: account".
            is_value = last and _MARKED.fullmatch(text, last, start) and not _MARK.match(text, end)
            if is_value and not text[:last].lower().endswith("as"):
                continue
            last = end
            yield start, end, rule


_MARK = re.compile(r"\s*[:：=＝]")
_MARKED = re.compile(r"\s*[:：=＝]\s*")
_SIGNS_IN = re.compile(
    r"\b(?:log|sign)(?:\s+me)?\s*(?:in|on)(?:to)?\b[^,.;:!?，。；：！？]{0,80}$", re.IGNORECASE
)
_AS = re.compile(
    r"(?<![A-Za-z])as(?=\s+(?!soon\b|well\b|usual\b|before\b|fast\b|quickly\b|if\b))", re.IGNORECASE
)


def _find_words(text: str, rule: VariableRule) -> Iterator[tuple[int, int]]:
    """Yield where words of a rule stand. "pass" needs a mark behind it; "as" needs "log in" before it."""
    for found in _expression(rule.words).finditer(text):
        if found[0].lower() != "pass" or _MARK.match(text, found.end()):
            yield found.span()
    if rule.name == "username":
        for found in _AS.finditer(text):
            if _SIGNS_IN.search(text, max(0, found.start() - 120), found.start()):
                yield found.span()


def _is_list(quoted: str, rules: tuple[VariableRule, ...]) -> bool:
    """Return whether a quotation is a list of named values, and no value itself."""
    inner = quoted[1:-1]
    return any(_MARK.match(inner, end) for rule in rules for _, end in _find_words(inner, rule))


def _end_of_brackets(text: str, start: int, end: int) -> int:
    """Return where the brackets around these characters close; the end of the text where there are none."""
    open_: list[str] = []
    pairs = {**_BRACKETS, **_LISTS}
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
    r"\s*(?:(?P<mark>[:：=＝])|是|为|设为|设置为|设置成|改为|改成|(?:is|to|as|of)(?![A-Za-z0-9_]))?\s*",
    re.IGNORECASE,
)


def _value_behind(text: str, end: int, until: int, rule: VariableRule) -> str | None:
    """Return the value that stands behind the word that names it; None where none does."""
    link = _LINK.match(text, end)
    assert link is not None
    start = link.end()
    if quoted := re.compile(_QUOTED).match(text, start):
        return quoted[0][1:-1]
    if start >= len(text) or start >= until:
        return None
    found = re.compile(rule.value).match(text, start, until)
    if found is None:
        return None
    value = _end_value(found[0])
    if rule is _QUERY and (place := _PLACE_SEARCHED.match(value)):
        value = place[1].strip("".join(QUOTES) + "”’」』")
    if re.search(r"\w", value) is None and not link["mark"]:
        return None
    if not value or (
        link["mark"] is None
        and (value.lower() in _NO_VALUES or (rule is not _QUERY and _PART_OF_NAME.match(value)))
    ):
        return None
    return value


_PLACE_SEARCHED = re.compile(
    r"(?:(?:(?:the|this|our|your|my)\s+)?(?:web\s*site|site|page|catalog(?:ue)?|shop|store|web|internet|database|list"
    r"|products?|library|docs|documentation)|\S+\.[a-z]+)\s+for\s+(.+)",
    re.IGNORECASE,
)
"""What stands between "search" and the query in "search the site for shoes"."""

_PART_OF_NAME = re.compile("设置|资料|中心|信息|安全|登录|登陆|管理")
"""Words that make another name of the one before them: "账号设置"."""


def _end_value(value: str) -> str:
    """Return a value without what joins the next part of the sentence to it."""
    value = value.rstrip()
    if len(value) > 2 and _BRACKETS.get(value[0]) == value[-1]:
        value = value[1:-1].strip()
    value = (
        re.sub(r"[,，。；;、!！?？.]+$", "", value)
        if re.search(r"[A-Za-z0-9\u3400-\u9fff]", value)
        else value
    )
    return re.sub(
        rf"(?:\s+(?:and\s+then\s.*|and|with|then|on\s+\S+\.\S+)|(?<=[\s{_HAN}])(?:和|与|并|然后))$", "", value
    ).strip()


def _value_before(text: str, least: int, start: int, rule: VariableRule, word: str) -> str | None:
    """Return the value that stands before the word, as in "用 ada 账号"; None where none does."""
    if word not in rule.before:
        return None
    found = re.search(r"(?:用|使用|以)\s*([A-Za-z0-9._@+\-]+)\s*(?:的)?\s*$", text[least:start])
    return None if found is None else found[1]


def mask_values(sentence: str, scenario: str | None = None) -> str:
    """Return a sentence without the values that it says, and without what is in quotes: "log in as ..."."""
    text = sentence[:LONGEST_SENTENCE]
    found = {
        value
        for each in (VARIABLE_RULES if scenario is None else (scenario,))
        if each != "search"
        for _, value in _find_values(text, _rules_of(each, VARIABLE_RULES))
        if value
    }
    text = re.sub(rf"(?<![A-Za-z0-9])(?:{_QUOTED})", "...", text)
    for value in sorted(found, key=len, reverse=True):
        text = text.replace(value, "...")
    return text
