"""Entries: keys without values, targets without refs, JSON round trips, and refusals."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from cdpengine.act import Click, Drag, Evaluate, Fill, FormField, Navigate, Press, SetCookies, Type, Wait
from cdpengine.act.requests import ActRequest
from cdpengine.cache import (
    CACHED_KINDS,
    CacheEntry,
    CacheKey,
    EntryStatistics,
    FramePlace,
    Landmark,
    LearningCost,
    PageFeatures,
    PathStep,
    PostCondition,
    Step,
    StepGroup,
    Target,
    UrlPattern,
    Viewport,
    entry_to_json,
    make_entry,
    make_key,
    parse_entry,
)
from cdpengine.cache.entry_json import dump_entries, load_entries
from cdpengine.errors import InvalidArgumentError

VIEWPORT = Viewport(width=1280, height=720)
URL = "https://shop.example/login"
BUTTON = Target(role="button", name="Log in")


def key(**more: Any) -> CacheKey:
    made: dict[str, Any] = {
        "scenario": "login",
        "url": URL,
        "viewport": VIEWPORT,
        "variables": ("user", "password"),
    }
    return make_key(**made | more)


def step(request: ActRequest, **more: Any) -> Step:
    return Step(request=request, **more)


FULL = make_entry(
    key(variant="b"),
    [
        step(Navigate(url=URL), label="open it", after=PostCondition(url="https://shop.example/login*", load_state="load")),
        StepGroup(
            steps=(
                step(Fill(fields=(FormField(ref="t1", value="${user}"), FormField(ref="t2", value="${password}"))),
                     targets={"t1": Target(role="textbox", name="User", nth=1, alike=2), "t2": Target(role="textbox", name="Password")}),
                step(Click(ref="t1"), targets={"t1": Target(
                    role="button", name="Log in", frames=(FramePlace(name="box", address=URL, nth=1),),
                    within=(Landmark(role="form", name="Log in"),), before=Landmark(role="text", name="Forgot?"),
                    after=Landmark(role="link", name="Help"), path=(PathStep(role="form", nth=2), PathStep(role="button")))},
                    after=PostCondition(text="Hello ${user}", gone=BUTTON)),
            ),
            atomic=True, rollback=(step(Press(key="Escape")),), label="log in",
        ),
    ],
    now=100.0, level="L2", description="log in", sensitive=("password",), environment=("user",), source="planned", tags=("shop", "登录"),
    page_type="form", version=3, statistics=EntryStatistics(successes=2, failures=1, total_ms=10.5, last_used_at=99.0),
    features=PageFeatures(forms=1, buttons=2, links=3, headings=4, fields=5, scripts=6, roles={"form": 1}, structure="a", content="b"),
    cost=LearningCost(tokens=1200, milliseconds=4000.5),
)  # fmt: skip


def test_an_entry_is_the_same_after_json() -> None:
    again = parse_entry(json.loads(json.dumps(entry_to_json(FULL))))
    assert again == FULL
    for field in attrs.fields(CacheEntry):  # no default hides a field
        assert getattr(FULL, field.name) != field.default, field.name
    assert load_entries(dump_entries([FULL, again])) == (FULL, FULL)
    assert load_entries(dump_entries([])) == ()


def test_lifetimes_are_those_of_the_levels() -> None:
    steps = [step(Navigate(url=URL))]
    ends = {level: make_entry(key(), steps, now=10.0, level=level).expires_at for level in ("L1", "L2", "L3")}
    assert ends == {"L1": 10 + 1_800, "L2": 10 + 3 * 86_400, "L3": 10 + 7 * 86_400}


def test_a_key_has_the_names_of_variables_and_never_their_values() -> None:
    made = key(variables={"user": "ada", "password": "hunter2"})
    assert made == key(variables=("password", "user", "user"))
    assert made.variables == ("password", "user")
    assert "hunter2" not in repr(made) + str(made) + made.id
    assert "ada" not in str(made)


def test_keys_are_equal_where_they_mean_the_same() -> None:
    assert key(url="HTTPS://Shop.example:443/x/../login?utm_source=mail#top") == key()
    others = [
        key(),
        key(scenario="logout"),
        key(url=URL + "/x"),
        key(url=UrlPattern("https://shop.example/*")),
        key(viewport=Viewport(width=390, height=844)),
        key(variables=("user",)),
        key(variant="b"),
    ]
    assert len({each.id for each in others}) == len(set(others)) == len(others)
    assert str(key()) == "login|https://shop.example/login|1280x720|password,user"


@pytest.mark.parametrize(
    "more",
    [
        {"scenario": ""}, {"scenario": "Log in"}, {"scenario": "登录"}, {"url": "about:blank"}, {"variables": ("a b",)},
        {"variables": ("1a",)}, {"viewport": Viewport(width=0, height=5)}, {"variant": "a b"}, {"variant": "a|b"},
    ],
)  # fmt: skip
def test_refused_keys(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        key(**more)


TYPED = step(Type(ref="t1", text="${password}"), targets={"t1": BUTTON})
REFUSED: dict[str, tuple[list[Step | StepGroup], dict[str, Any]]] = {
    "no steps": ([], {}),
    "too many steps": ([step(Press(key="Enter"))] * 501, {}),
    "a bare ref": ([step(Click(ref="e12"))], {}),
    "a bare ref of a field": ([step(Fill(fields=(FormField(ref="e1", value="x"),)))], {}),
    "a bare ref to drag": ([step(Drag(start_ref="t1", end_ref="e2"), targets={"t1": BUTTON})], {}),
    "a selector": ([step(Click(selector="#go"))], {}),
    "a selector of a field": ([step(Fill(fields=(FormField(selector="#a", value="x"),)))], {}),
    "a missing target": ([step(Click(ref="t1"))], {}),
    "a target too many": ([step(Press(key="Enter"), targets={"t1": BUTTON})], {}),
    "a target under another name": ([step(Click(ref="t1"), targets={"t2": BUTTON})], {}),
    "no element": ([step(Click())], {}),
    "a page's id": ([step(Navigate(url=URL, target_id="A1"))], {}),
    "a script": ([step(Evaluate(function="1"))], {}),
    "a script to wait for": ([step(Wait(function="1"))], {}),
    "cookies": ([step(SetCookies(cookies=()))], {}),
    "a URL with a password": ([step(Navigate(url="https://ada:hunter2@shop.example/"))], {}),
    "a URL with a token": ([step(Navigate(url="https://shop.example/?token=hunter2"))], {}),
    "an unknown variable": ([step(Press(key="${code}"))], {}),
    "an unknown variable in a name": ([step(Click(ref="t1"), targets={"t1": Target(role="link", name="${code}")})], {}),
    "an unknown variable in a condition": ([step(Press(key="Enter"), after=PostCondition(text="${code}"))], {}),
    "a broken template": ([step(Press(key="${"))], {}),
    "a broken template in a rollback": ([StepGroup(steps=(TYPED,), rollback=(step(Press(key="${")),))], {}),
    "a condition without any": ([step(Press(key="Enter"), after=PostCondition())], {}),
    "a condition without a pattern": ([step(Press(key="Enter"), after=PostCondition(url="/cart"))], {}),
    "a sensitive variable of nothing": ([TYPED], {"sensitive": ("code",)}),
    "a sensitive variable in a URL": ([step(Navigate(url=f"{URL}/${{password}}"))], {"sensitive": ("password",)}),
    "a sensitive variable in a name": (
        [step(Click(ref="t1"), targets={"t1": Target(role="link", name="${password}")})], {"sensitive": ("password",)},
    ),
    "a sensitive variable in a condition": (
        [step(Press(key="Enter"), after=PostCondition(text="${password}"))], {"sensitive": ("password",)},
    ),
    "a tag of two words": ([TYPED], {"tags": ("a b",)}),
    "a version below 1": ([TYPED], {"version": 0}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_entries_are_refused_on_creation_and_on_parsing(name: str) -> None:
    steps, more = REFUSED[name]
    with pytest.raises(InvalidArgumentError) as caught:
        make_entry(key(), steps, now=1.0, **more)
    fresh = {"created_at": 1.0, "expires_at": 2.0} | more
    data = entry_to_json(CacheEntry(key=key(), steps=tuple(steps), **fresh))
    with pytest.raises(InvalidArgumentError) as parsed:
        parse_entry(json.loads(json.dumps(data)))
    for error in (caught.value, parsed.value):
        assert "hunter2" not in str(error)
        assert len(str(error)) <= 400


def test_the_base_of_the_refused_entries_is_accepted() -> None:
    assert make_entry(key(), [TYPED], now=1.0, sensitive=("password",), tags=("a",)).sensitive == (
        "password",
    )


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"steps": 5}, "entry.steps"),
        ({"steps": [{"request": {"kind": "clik"}}]}, "entry.steps[0].request"),
        ({"steps": [{"request": {"kind": "click", "reff": "t1"}}]}, "entry.steps[0].request"),
        ({"steps": [{"request": 7}]}, "entry.steps[0].request"),
        ({"steps": [{"steps": [{}]}]}, "entry.steps[0].steps[0].request"),
        ({"level": "L4"}, "entry.level"),
        ({"version": "3"}, "entry.version"),
        ({"key": {"scenario": "login"}}, "entry.key"),
        ({"password": "hunter2"}, "a field of entry"),
        ({"description": {"hunter2": 1}}, "entry.description"),
        ({"features": {"forms": 1}}, "entry.features"),
        ({"statistics": {"totalMs": "hunter2"}}, "entry.statistics.totalMs"),
    ],
)
def test_json_that_is_not_an_entry_is_refused_with_its_path(change: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_entry(entry_to_json(FULL) | change)
    assert caught.value.what.startswith(place)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "[]", "null", '{"format": "other", "entries": []}', '{"format": "cdpengine cache", "version": 1}',
        '{"format": "cdpengine cache", "version": 2, "entries": []}', "[" * 200_000, b"\xff",
    ],
)  # fmt: skip
def test_invalid_imports(text: str | bytes) -> None:
    with pytest.raises(InvalidArgumentError):
        load_entries(text)


def test_the_invalid_entry_of_an_import_is_named() -> None:
    text = dump_entries([FULL, FULL]).replace('"L2"', '"L9"')
    with pytest.raises(InvalidArgumentError, match=r"^entry 1\.level"):
        load_entries(text)


def test_no_cached_kind_runs_a_script() -> None:
    from cdpengine.act import KINDS

    assert KINDS.keys() >= CACHED_KINDS
    assert not [kind for kind in CACHED_KINDS if KINDS[kind].runs_script]


def test_statistics_add_up() -> None:
    made = EntryStatistics()
    assert (made.uses, made.success_rate, made.mean_ms) == (0, None, None)
    made = made.add_run(succeeded=True, milliseconds=10.0, at=5.0).add_run(
        succeeded=False, milliseconds=99.0, at=4.0
    )
    assert made == EntryStatistics(successes=1, failures=1, failed_in_row=1, total_ms=10.0, last_used_at=5.0)
    assert made.add_run(succeeded=True, milliseconds=1.0, at=6.0).failed_in_row == 0
    assert (made.uses, made.success_rate, made.mean_ms) == (2, 0.5, 10.0)


def test_typed_text_is_found_in_groups_too() -> None:
    assert not FULL.holds_typed_text
    literal = step(Type(ref="t1", text="shoes"), targets={"t1": BUTTON})
    for steps in ([literal], [StepGroup(steps=(literal,))], [StepGroup(steps=(TYPED,), rollback=(literal,))]):
        assert make_entry(key(), steps, now=1.0).holds_typed_text
