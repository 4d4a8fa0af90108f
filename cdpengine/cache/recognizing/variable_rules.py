"""The variables of sentences: the words that name them, in English and Chinese, and possible values. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import attrs

QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "`": "`"}

HAN = r"\u3400-\u9fff"
QUOTED = "|".join(
    rf"{opening}(?:\\{closing}|[^{closing}]|(?<!\\){closing}(?=[A-Za-z0-9]))*{closing}"
    if opening == closing
    else rf"{opening}[^{closing}]*{closing}"
    for opening, closing in QUOTES.items()
)
"""Quoted strings. A quote before a letter or a digit, or after a backslash, does not close them."""


def unquote(quoted: str) -> str:
    """Return the content of a quoted string, without the backslashes before its closing quote."""
    return quoted[1:-1].replace(f"\\{quoted[-1]}", quoted[-1])


def forms_in_quotes(value: str) -> tuple[str, ...]:
    """Return the forms in which a sentence can contain a value: plain, and with escaped quotes."""
    return (value, *(value.replace(quote, f"\\{quote}") for quote in "\"'`" if quote in value))


NO_VALUES = frozenset(
    (
        "a", "again", "an", "and", "and/or", "are", "as", "at", "be", "box", "by", "can", "field", "for", "from",
        "has", "here", "i", "if", "in", "input", "into", "invalid", "is", "it", "its", "link", "manager", "my",
        "name", "not", "now", "of", "on", "optional", "or", "page", "please", "policy", "required", "reset",
        "section", "should", "so", "something", "that", "the", "them", "then", "there", "this", "to", "using",
        "was", "will", "with", "wrong", "your",
    )
)  # fmt: skip
"""Words that are no values when they follow a naming word without quotes."""

NEED_MARKS = frozenset(("pass", "query", "keyword", "keywords", "search term", "关键词", "关键字"))
"""Words that name a value only if ":" or "=" follows."""


@attrs.frozen(kw_only=True)
class VariableRule:
    """A rule for the value of a variable in a sentence.

    words: the naming words in lowercase. The value follows them.
    value: a regular expression for values without quotes. It starts at the value.
    check: returns whether a string is a plausible value, quoted or not.
    before: naming words that follow the value instead, as in "用 ada 账号".
    """

    name: str
    words: tuple[str, ...]
    value: str
    check: Callable[[str], bool]
    before: tuple[str, ...] = ()


# --- what values look like -----------------------------------------------------------------------------------


def _is_email(text: str) -> bool:
    return re.fullmatch(r"[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+", text) is not None and len(text) <= 254


def _is_phone(text: str) -> bool:
    return re.fullmatch(r"\+?[\d ().-]+", text) is not None and 5 <= len(re.sub(r"\D", "", text)) <= 15


def _is_card(text: str) -> bool:
    """Return whether a string is a card number: 12 to 19 digits with a Luhn check digit (ISO/IEC 7812-1)."""
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


BRACKETS = {
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
LISTS = {"「": "」", "『": "』"}
"""Quotes that, like brackets, can also enclose a list of values."""

_ENDS = re.escape("".join(BRACKETS) + "".join(BRACKETS.values()))
_WORD = (
    rf"[A-Za-z0-9._@+\-]+(?:['’](?!s\b)[A-Za-z0-9._@+\-]+)*(?![^\s{HAN},，。；;、!！?？:：=＝」』／｜{_ENDS}])"
    rf"|[{HAN}]+?(?=的?身份|来?登[录陆入]|[^{HAN}]|$)"
)
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
_OLD_PASSWORD = VariableRule(
    name="old_password",
    words=("old password", "current password", "旧密码", "原密码", "当前密码"),
    value=_TOKEN,
    check=_is_line,
)
_NEW_PASSWORD = VariableRule(
    name="new_password", words=("new password", "新密码"), value=_TOKEN, check=_is_line
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
QUERY = VariableRule(
    name="query",
    words=(
        "search for", "search", "look up", "look for", "find me", "find", "query",
        "keywords", "keyword", "search term", "关键词", "关键字",
        "搜索一下", "搜索", "搜尋", "搜寻", "搜一下", "查一下", "查找", "查詢", "查询", "检索", "寻找", "找一下",
    ),
    value=_CLAUSE,
    check=lambda text: _is_line(text) and text.lower() not in NO_VALUES,
)  # fmt: skip
_LANGUAGE = VariableRule(
    name="language",
    words=("language to", "language", "语言为", "语言"),
    value=rf"[A-Za-z\-]+|[{HAN}]+",
    check=lambda text: _is_line(text) and len(text) <= 64,
)

VARIABLE_RULES: Mapping[str, tuple[VariableRule, ...]] = MappingProxyType(
    {
        "login": (_USERNAME, _PASSWORD, _EMAIL, _PHONE, _CODE),
        "logout": (),
        "search": (QUERY,),
        "checkout": (_CARD, _EXPIRY, _CVV, _COUPON, _NAME, _ADDRESS, _EMAIL, _PHONE),
        "settings": (
            *(_USERNAME, _PASSWORD, _OLD_PASSWORD, _NEW_PASSWORD),
            *(_EMAIL, _PHONE, _NAME, _LANGUAGE),
        ),
        "form_fill": (_USERNAME, _PASSWORD, _EMAIL, _PHONE, _CODE, _NAME, _ADDRESS),
    }
)
"""The rules by scenario.

Callers can pass another mapping. A scenario that is missing from the mapping uses the rules of form_fill.
"""

ORDERS: Mapping[str, tuple[str, ...]] = MappingProxyType({"login": ("username", "password")})
"""The variables of values without names, by scenario, if the cache has no fitting entry."""
