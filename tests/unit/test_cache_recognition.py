"""Scenarios and values in sentences, English and Chinese: real matches, and no mere lookalikes."""

from __future__ import annotations

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from cdpengine.act import Click, Type
from cdpengine.cache import (
    SCENARIO_RULES,
    Classifier,
    RecognitionHistory,
    ScenarioMatch,
    ScenarioRecognizer,
    ScenarioRule,
    Values,
    extract_variables,
    match_rules,
    resolve_values,
)
from cdpengine.cache.recognizing import instructions, recognition
from cdpengine.cache.recognizing.sentences import mask_values
from cdpengine.cache.recognizing.variable_rules import VARIABLE_RULES
from cdpengine.errors import InvalidArgumentError, VariablesError

# --- values in sentences -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "scenario", "values"),
    [
        ("log in as ada with password hunter2", "login", {"username": "ada", "password": "hunter2"}),
        ("Login as Ada, PASSWORD: hunter2", "login", {"username": "Ada", "password": "hunter2"}),
        ("username is ada and the password is hunter2", "login", {"username": "ada", "password": "hunter2"}),
        ("my password is hunter2 and my username is ada", "login", {"username": "ada", "password": "hunter2"}),
        ('password "a b, c." username ada', "login", {"username": "ada", "password": "a b, c."}),
        ("用户名:ada,密码:p@ss\uff0c验证码:123456", "login", {"username": "ada", "password": "p@ss", "code": "123456"}),
        ("用户名 张三 密码 abc", "login", {"username": "张三", "password": "abc"}),
        ("用 alice 账号登录,密码 secret123", "login", {"username": "alice", "password": "secret123"}),
        ("以 ada 的身份登录", "login", {"username": "ada"}),
        ("密码是「 a b 」", "login", {}),
        ("密码是「a b」", "login", {"password": "a b"}),
        ("search for red shoes on example.com", "search", {"query": "red shoes"}),
        ('search for "log out and in"', "search", {"query": "log out and in"}),
        ("在京东搜索红色的鞋子,然后结账", "search", {"query": "红色的鞋子"}),
        ("pay with card 4111 1111 1111 1111, expiry 12/27, cvv 123", "checkout",
         {"card_number": "4111 1111 1111 1111", "card_expiry": "12/27", "cvv": "123"}),
        ("name: Ada Lovelace, email: ada@x.de; phone: +44 20 1234", "form_fill",
         {"name": "Ada Lovelace", "email": "ada@x.de", "phone": "+44 20 1234"}),
        ("把邮箱改为 ada@x.de", "settings", {"email": "ada@x.de"}),
        ("收货地址:上海市南京路1号, 电话 13800138000", "checkout", {"address": "上海市南京路1号", "phone": "13800138000"}),
        ("log me out", "logout", {}),
        ("log out user ada", "logout", {}),
    ],
)  # fmt: skip
def test_values_of_sentences(sentence: str, scenario: str, values: dict[str, str]) -> None:
    assert dict(extract_variables(sentence, scenario).values) == values


def test_user_names_are_not_only_chinese() -> None:
    for name in ("ada", "Ada.Lovelace", "ada@example.com", "ada_7", "张三"):
        assert extract_variables(f"用户名 {name} 密码 x1", "login").values["username"] == name


def test_a_password_does_not_take_in_the_rest_of_the_sentence() -> None:
    for sentence in (
        "password hunter2 and then open the cart",
        "password: hunter2, then open the cart",
        "password hunter2. Then open the cart",
        "密码secret然后打开购物车".replace("secret", "hunter2"),
        "密码 hunter2,打开购物车",
        "密码:hunter2 用户名:ada",
    ):
        assert extract_variables(sentence, "login").values["password"] == "hunter2", sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "reset the password",
        "the password is required",
        "forgot my password",
        "the password field",
        "密码",
        "password:",
        "",
    ],
)
def test_sentences_without_values(sentence: str) -> None:
    assert dict(extract_variables(sentence, "login").values) == {}


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("card 4111 1111 1111 1112", "card_number"),
        ("email ada.example.com", "email"),
        ("expiry 13/27", "card_expiry"),
        ("cvv 12", "cvv"),
        ("phone 12", "phone"),
    ],
)
def test_an_impossible_value_is_refused_by_name(sentence: str, name: str) -> None:
    found = extract_variables(sentence, "checkout")
    assert (dict(found.values), found.refused) == ({}, (name,))


def test_sensitive_values_are_not_shown() -> None:
    found = extract_variables("log in as ada with password hunter2", "login")
    assert found.sensitive == {"password"}
    assert "hunter2" not in repr(found)


@given(
    st.text("password 用户名密码:is,。'\"“”「」hunter2 \\n", max_size=60),
    st.sampled_from(sorted(VARIABLE_RULES)),
)
def test_no_sentence_is_too_odd(sentence: str, scenario: str) -> None:
    for value in extract_variables(sentence, scenario).values.values():
        assert value in sentence
        assert value == value.strip() != ""


@pytest.mark.parametrize("unit", ["登录", "log in ", "login as ", "(user: bob, ", "「"])
def test_a_sentence_of_many_phrases_is_read_in_part(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real = instructions.is_instruction

    def count(text: str, start: int, end: int, **more: bool) -> bool:
        seen.append(start)
        return real(text, start, end, **more)

    monkeypatch.setattr(recognition, "is_instruction", count)
    match_rules(unit * 2_000)
    extract_variables(unit * 2_000, "login")
    assert len(seen) <= 50


def test_a_masked_sentence_has_no_values() -> None:
    masked = mask_values(
        'log in as ada with password hunter2, 密码:canary, note "x y", card 4111 1111 1111 1112'
    )
    assert masked.startswith("log in as ... with password ...")
    assert not {word for word in ("ada", "hunter2", "canary", "x y", "1112") if word in masked}


# --- scenarios -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "scenario"),
    [
        ("log in as ada", "login"), ("Please SIGN  IN", "login"), ("登录", "login"), ("帮我登陆一下", "login"),
        ("log out", "logout"), ("sign me out", "logout"), ("退出登录", "logout"), ("请登出", "logout"),
        ("search for shoes", "search"), ("搜索红色的鞋子", "search"), ("查找订单", "search"),
        ("check out", "checkout"), ("去结账", "checkout"), ("open the settings", "settings"), ("打开设置", "settings"),
        ("fill in the form", "form_fill"), ("填写表单", "form_fill"), ("登录设置", "settings"), ("open login settings", "settings"),
        ("search for the log out button", "search"), ("搜索退出登录", "search"), ('search for "check out"', "search"),
        ("do not log in, search for shoes", "search"), ("不要登录,搜索鞋子", "search"), ("don't log out; check out", "checkout"),
        ("check out without logging in", "checkout"), ("结账,不用登录", "checkout"),
    ],
)  # fmt: skip
def test_scenarios_of_sentences(sentence: str, scenario: str) -> None:
    found = match_rules(sentence)
    assert found is not None
    assert (found.scenario, found.method, found.others) == (scenario, "words", ())
    assert found.confidence == next(rule.confidence for rule in SCENARIO_RULES if rule.scenario == scenario)


@pytest.mark.parametrize(
    "sentence",
    [
        "找", "进入首页", "找不到页面", "open the blogins page", "catalogue loggings", "research", "prologin",
        "do not log in", "never sign out", "不要登录", "别退出登录", "取消支付", '"log in"', "“登录”", "mail login@example.com",
        "open /login.html", "", "提交", "编辑", "account",
    ],
)  # fmt: skip
def test_lookalikes_of_a_scenario_do_not_match(sentence: str) -> None:
    assert match_rules(sentence) is None


def test_the_words_of_the_old_rules_that_matched_anywhere_match_nothing() -> None:
    for sentence in ("找", "进入", "帮我找客服", "进入商品页", "列表", "list"):
        assert match_rules(sentence, "https://a.example/listening") is None


def test_two_scenarios_in_one_sentence_lower_the_confidence() -> None:
    found = match_rules("log in and search for shoes")
    assert found == ScenarioMatch(
        scenario="login", confidence=65, method="words", matched="log in", others=("search",)
    )


@pytest.mark.parametrize(
    ("url", "scenario"),
    [
        ("https://a.example/login", "login"), ("https://a.example/user/Sign-In.php?x=1", "login"),
        ("https://a.example/#/checkout", "checkout"), ("https://a.example/loginhelp", None), ("https://login.example/", None),
        ("https://a.example/?next=/login", None), ("about:blank", None), (None, None),
    ],
)  # fmt: skip
def test_a_path_is_a_hint(url: str | None, scenario: str | None) -> None:
    found = match_rules("click the blue thing", url)
    assert (found and found.scenario) == scenario
    assert found is None or (found.method, found.confidence) == ("url", 50)


def test_a_matching_path_raises_the_confidence() -> None:
    found = match_rules("log in", "https://a.example/login")
    assert found is not None
    assert (found.confidence, found.method) == (95, "words and url")


def test_rules_are_data() -> None:
    rules = (*SCENARIO_RULES, ScenarioRule(scenario="book", words=("book a table", "订座"), paths=("book",)))
    assert getattr(match_rules("please book a table", rules=rules), "scenario", None) == "book"
    assert getattr(match_rules("我要订座", rules=rules), "scenario", None) == "book"
    assert match_rules("please book a table") is None


# --- everything together
# -----------------------------------------------------------------------------------------


async def test_certain_rules_ask_no_classifier() -> None:
    async def classify(sentence: str, url: str | None, scenarios: tuple[str, ...]) -> ScenarioMatch | None:
        raise AssertionError("asked")

    found = await ScenarioRecognizer(classifier=classify).recognize("log in")
    assert found is not None
    assert found.scenario == "login"


async def test_a_classifier_gets_no_values_and_is_checked() -> None:
    asked: list[tuple[str, str | None, tuple[str, ...]]] = []
    answers: list[object] = []

    async def classify(sentence: str, url: str | None, scenarios: tuple[str, ...]) -> ScenarioMatch | None:
        asked.append((sentence, url, scenarios))
        await trio.lowlevel.checkpoint()
        return answers.pop()  # type: ignore[return-value]

    recognizer = ScenarioRecognizer(classifier=classify)
    answers.append(ScenarioMatch(scenario="login", confidence=70, method="url"))
    found = await recognizer.recognize("get me inside, password hunter2", "https://a.example/?token=hunter2")
    assert found == ScenarioMatch(scenario="login", confidence=70, method="classifier")
    assert "hunter2" not in str(asked)
    assert asked[0][2] == ("login", "logout", "search", "checkout", "settings", "form_fill")
    answers.append(ScenarioMatch(scenario="login", confidence=69, method="url"))
    assert await recognizer.recognize("get me inside") is None
    for wrong in (
        "login",
        ScenarioMatch(scenario="login", confidence=101, method="url"),
        ScenarioMatch(scenario="Log in!", confidence=90, method="url"),
        ScenarioMatch(scenario="login", confidence=None, method="url"),  # type: ignore[arg-type]
    ):
        answers.append(wrong)
        seen = await recognizer.understand("get me inside")
        assert (seen.match, len(seen.remarks)) == (None, 1)
        answers.append(wrong)
        less_sure = await recognizer.understand("log in and search for shoes")
        assert (getattr(less_sure.match, "scenario", None), len(less_sure.remarks)) == ("login", 1)


async def test_a_classifier_can_be_cancelled() -> None:
    async def classify(sentence: str, url: str | None, scenarios: tuple[str, ...]) -> ScenarioMatch | None:
        await trio.sleep_forever()

    typed: Classifier = classify
    with trio.move_on_after(0.01) as scope:
        await ScenarioRecognizer(classifier=typed).recognize("get me inside")
    assert scope.cancelled_caught


async def test_history_is_searched_by_similarity() -> None:
    history = RecognitionHistory(limit=3)
    recognizer = ScenarioRecognizer(history=history)
    assert await recognizer.recognize("get me inside the shop") is None
    history.add("get me inside the shop please", "login")
    found = await recognizer.recognize("get me inside the shop")
    assert found == ScenarioMatch(scenario="login", confidence=83, method="history")
    assert await recognizer.recognize("leave the shop") is None
    history.add("我要进商店里面", "login")
    assert getattr(await recognizer.recognize("我要进商店里面去"), "method", None) == "history"


def test_history_is_bounded_and_contains_no_values() -> None:
    history = RecognitionHistory(limit=2)
    for number in range(5):
        history.add(f"sentence {number} password hunter2", "login")
    history.add("", "login")
    assert len(history) == 2
    assert "hunter2" not in repr(vars(history))
    assert history.match("") is None
    with pytest.raises(InvalidArgumentError):
        RecognitionHistory(limit=0)


async def test_less_certain_rules_come_last_and_a_url_alone_needs_less_to_be_asked_for() -> None:
    recognizer = ScenarioRecognizer()
    assert getattr(await recognizer.recognize("fill in the form"), "confidence", None) == 80
    assert await recognizer.recognize("click", "https://a.example/login") is None
    assert (
        getattr(await recognizer.recognize("click", "https://a.example/login", least=50), "scenario", None)
        == "login"
    )


# --- values at run time --------------------------------------------------------------------------------------


async def test_values_come_from_the_first_source_that_has_them() -> None:
    asked: list[str] = []

    async def ask(name: str) -> str | None:
        asked.append(name)
        await trio.lowlevel.checkpoint()
        return {"token": "t0ken"}.get(name)

    environment = {"CDPENGINE_VAR_USER": "from the environment", "CDPENGINE_VAR_CITY": "Bath"}
    found = await resolve_values(
        ["user", "city", "token", "user"], values={"user": "ada"}, environment=environment, ask=ask
    )
    assert asked == ["token"]
    assert found.names == ("city", "token", "user")
    assert found.fill("${user} ${city} ${token}") == "ada Bath t0ken"
    assert found.sensitive == {"token"}


async def test_all_undefined_variables_are_reported_together_and_nothing_is_skipped() -> None:
    async def ask(name: str) -> str | None:
        await trio.lowlevel.checkpoint()
        return None

    for given_ask in (None, ask):
        with pytest.raises(VariablesError) as caught:
            await resolve_values(["a", "b", "c"], values={"b": "hunter2"}, environment={}, ask=given_ask)
        assert caught.value.missing == ["a", "c"]
        assert "hunter2" not in str(caught.value)


async def test_no_value_is_shown() -> None:
    found = await resolve_values(
        ["user", "pin"], values={"user": "canary", "pin": "hunter2"}, environment={}, sensitive=["user"]
    )
    assert isinstance(found, Values)
    assert found.sensitive == {"user", "pin"}
    filled = found.fill_request(Type(ref="t1", text="${pin}"))
    for text in (repr(found), str(found), repr(filled), found.hide("typed hunter2 as canary")):
        assert "hunter2" not in text
        assert "canary" not in text
    assert found.fill_request(Click(ref="t1")) == Click(ref="t1")


@pytest.mark.parametrize("wrong", [5, "x" * 1_000_001])
async def test_a_wrong_value_is_refused_without_being_repeated(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await resolve_values(["a"], values={"a": wrong}, environment={})  # type: ignore[dict-item]
    assert len(str(caught.value)) < 200


async def test_a_failed_prompt_gives_no_value_and_names_the_exception() -> None:
    async def ask(name: str) -> str | None:
        await trio.lowlevel.checkpoint()
        raise {"a": KeyError("hunter2"), "b": ValueError("hunter2")}[name]

    with pytest.raises(VariablesError) as caught:
        await resolve_values(["a", "b", "c"], values={"c": "x"}, environment={}, ask=ask)
    assert caught.value.missing == ["a", "b"]
    assert caught.value.failures == ["asking for a raised KeyError", "asking for b raised ValueError"]
    assert caught.value.failures[0] in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_asking_can_be_cancelled() -> None:
    async def ask(name: str) -> str | None:
        await trio.sleep_forever()

    with trio.move_on_after(0.01) as scope:
        await resolve_values(["a"], environment={}, ask=ask)
    assert scope.cancelled_caught
