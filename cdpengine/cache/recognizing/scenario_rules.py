"""The predefined scenarios: their phrases in English and Chinese, and their URL paths. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product

import attrs

SURE = 90
"""Confidence of a phrase that belongs to only one scenario, from 0 to 100."""


@attrs.frozen(kw_only=True)
class ScenarioRule:
    """The phrases and paths of a scenario.

    words: phrases in lowercase; they match whole words.
    paths: segments of URL paths, such as "login".
    confidence: the confidence of a phrase.
    takes_content: whether the words after a phrase are content, such as a search term.
    is_place: whether the scenario is a part of the site, as in "open" and "go to".
    """

    scenario: str
    words: tuple[str, ...]
    paths: tuple[str, ...] = ()
    confidence: int = SURE
    takes_content: bool = False
    is_place: bool = False


def _joined(*parts: Iterable[str]) -> tuple[str, ...]:
    """Return all combinations of one piece from each part."""
    return tuple("".join(pieces) for pieces in product(*parts))


def _with_people(verb: str, direction: str) -> tuple[str, ...]:
    """Return a phrasal verb with the possible words inside it: "log me in", "log back in"."""
    between = ("", "me ", "us ", "me back ", "back ", "him ", "her ", "them ", "everyone ", "the user ")
    return _joined((f"{verb} ",), between, (direction,))


_OWN_DATA = (
    "email", "e-mail", "email address", "e-mail address", "phone", "phone number", "language", "password",
    "nickname", "display name", "user name", "username",
)  # fmt: skip
_OWN_DATA_IN_CHINESE = (
    "邮箱", "手机号", "手机号码", "手机", "电话", "昵称", "姓名", "语言", "密码", "用户名", "地址",
)  # fmt: skip
"""Personal data in the settings."""

SCENARIO_RULES: tuple[ScenarioRule, ...] = (
    ScenarioRule(
        scenario="login",
        words=(
            "logging in", "log into", "log on to", "login", "signing in", "sign into", "登录", "登陆", "登入",
            *_with_people("log", "in"), *_with_people("sign", "in"),
        ),
        paths=("login", "log-in", "signin", "sign-in", "sign_in"),
    ),
    ScenarioRule(
        scenario="logout",
        words=(
            "logging out", "logout", "signing out", "登出", "注销登录", "注销",
            *_with_people("log", "out"), *_with_people("log", "off"), *_with_people("sign", "out"),
            *_joined(
                ("退出",), ("", "当前", "这个", "该", "我的", "当前的"),
                ("登录", "登陆", "登錄", "账号", "帐号", "帳號", "账户", "帐户"),
            ),
        ),
        paths=("logout", "log-out", "signout", "sign-out", "sign_out"),
    ),
    ScenarioRule(
        scenario="search",
        words=(
            "search for", "search", "searching for", "look up", "look for", "find me",
            "搜索", "搜尋", "搜寻", "搜一下", "查一下", "查找", "查询", "查詢", "检索", "寻找",
        ),
        paths=("search", "query"),
        takes_content=True,
    ),
    ScenarioRule(
        scenario="checkout",
        words=(
            "check out", "checkout", "checking out", "pay for", "pay with", "pay using", "pay by card", "pay now",
            "buy it", "buy this", "buy them", "buy now",
            *_joined(
                ("place ", "complete ", "finish ", "submit "), ("the ", "my ", "an ", "this "),
                ("order", "purchase"),
            ),
            "结账", "結帳", "结算", "付款", "支付", "买单", "下单", "提交订单", "完成订单", "完成购买",
        ),
        paths=("checkout", "check-out", "payment"),
    ),
    ScenarioRule(
        scenario="settings",
        words=(
            "settings", "preferences", "change my", "update my", "edit my profile",
            "login settings", "search settings", "payment settings",
            *_joined(("change ", "update ", "set ", "edit ", "switch "), ("the ", "my "), _OWN_DATA),
            "设置", "設置", "設定", "偏好设置", "个人中心", "修改资料", "账号设置", "登录设置", "支付设置",
            "搜索设置",
            *_joined(("修改", "更改", "更换", "更新", "变更"), ("", "我的", "账号"), _OWN_DATA_IN_CHINESE),
            *_joined(_OWN_DATA_IN_CHINESE, ("改", "换", "设置", "修改", "更改", "更新", "切换"), ("成", "为")),
        ),
        paths=("settings", "preferences", "profile"),
        is_place=True,
    ),
    ScenarioRule(
        scenario="form_fill",
        words=(
            "fill in", "fill out", "fill the form", "complete the form", "submit the form", "submit form",
            "填写", "填表", "填表单", "提交表单",
        ),
        confidence=80,
        takes_content=True,
    ),
)  # fmt: skip
"""The predefined scenarios. Callers can add rules."""


_SPACE = r"\s+"


@lru_cache(maxsize=100)
def phrases_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the regular expression for these phrases, longest first."""
    pieces = [
        rf"(?<![A-Za-z0-9_@/.-]){_SPACE.join(map(re.escape, phrase.split()))}(?![A-Za-z0-9_@/-]|\.\w)"
        if phrase.isascii()
        else re.escape(phrase)
        for phrase in sorted(words, key=len, reverse=True)
    ]
    return re.compile("|".join(pieces) or r"(?!)", re.IGNORECASE)
