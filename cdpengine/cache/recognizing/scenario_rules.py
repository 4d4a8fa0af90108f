"""The scenarios that are known from the start: their words in English and Chinese, and their paths. Pure."""

from __future__ import annotations

import attrs

SURE = 90
"""The confidence of a phrase that is of one scenario only, from 0 to 100."""


@attrs.frozen(kw_only=True)
class ScenarioRule:
    """How a scenario is said.

    `words` are phrases in small letters, `paths` parts of URLs' paths, such as "login", each between the limits of
    words. `confidence` is that of a phrase. `takes_content`: what follows its phrases is what is looked for.
    `is_place`: it is a part of the site that "open" and "go to" lead to.
    """

    scenario: str
    words: tuple[str, ...]
    paths: tuple[str, ...] = ()
    confidence: int = SURE
    takes_content: bool = False
    is_place: bool = False


SCENARIO_RULES: tuple[ScenarioRule, ...] = (
    ScenarioRule(
        scenario="login",
        words=(
            "log in", "log me in", "logging in", "log into", "login", "sign in", "sign me in", "signing in",
            "sign into", "登录", "登陆", "登入",
        ),
        paths=("login", "log-in", "signin", "sign-in", "sign_in"),
    ),
    ScenarioRule(
        scenario="logout",
        words=(
            "log out", "log me out", "logging out", "logout", "log off", "sign out", "sign me out", "signing out",
            "退出登录", "退出登陆", "退出账号", "退出帐号", "登出", "注销登录", "注销",
        ),
        paths=("logout", "log-out", "signout", "sign-out", "sign_out"),
    ),
    ScenarioRule(
        scenario="search",
        words=(
            "search for", "search", "searching for", "look up", "look for",
            "搜索", "搜一下", "查找", "查询", "检索", "寻找",
        ),
        paths=("search", "query"),
        takes_content=True,
    ),
    ScenarioRule(
        scenario="checkout",
        words=(
            "check out", "checkout", "checking out", "place the order", "place my order", "pay for",
            "complete the purchase", "结账", "结算", "付款", "支付", "买单", "下单",
        ),
        paths=("checkout", "check-out", "payment"),
    ),
    ScenarioRule(
        scenario="settings",
        words=(
            "settings", "preferences", "change my", "update my", "edit my profile", "change the language",
            "设置", "偏好设置", "个人中心", "修改资料", "账号设置", "登录设置", "支付设置", "搜索设置",
            "login settings", "search settings", "payment settings",
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
"""The scenarios that are known from the start. Further rules can be put beside them."""
