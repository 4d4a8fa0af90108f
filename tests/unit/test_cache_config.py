"""The options of a cache: each is read from a file and from the environment, and unknown options are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from cdpengine.cache import (
    CacheConfig,
    Thresholds,
    default_config_path,
    parse_config,
    read_config,
)
from cdpengine.errors import InvalidArgumentError

OTHERS: dict[type, list[Any]] = {
    bool: [1, "yes", 1.0, [], None],
    int: [True, 2.5, "2", [], None],
    float: [True, "2", [], None],
    str: [1, True, 1.5, []],
}
"""Values of other types, by the type of an option."""

OPTIONS = {field.name: field.default for field in attrs.fields(CacheConfig)}


def another(name: str) -> Any:
    """Return a value of an option that differs from its default and fits the defaults of other options."""
    default: Any = OPTIONS[name]
    if isinstance(default, bool):
        return not default
    if name.endswith("_hard") or name == "scenario_confidence":
        return default + 1
    if isinstance(default, int):
        return default - 1
    return "ada" if isinstance(default, str) else default + 1.5


@pytest.mark.parametrize("name", OPTIONS)
async def test_each_option_is_read_from_a_file_and_from_the_environment(tmp_path: Path, name: str) -> None:
    value = another(name)
    text = f'"{value}"' if isinstance(value, str) else str(value).lower()
    file = tmp_path / "cache.toml"
    file.write_text(f"{name} = {text}\n")
    expected = attrs.evolve(CacheConfig(), **{name: value})
    assert await read_config(file, environment={}) == expected
    variable = f"CDPENGINE_CACHE_{name.upper()}"
    assert await read_config(environment={variable: text, "CDPENGINE_CACHE_CONFIG": str(file)}) == expected
    file.write_text(f"{name} = {str(OPTIONS[name]).lower()!r}" if isinstance(value, str) else "")
    assert await read_config(file, environment={variable: text}) == expected, "the environment comes first"


@pytest.mark.parametrize("name", OPTIONS)
def test_a_value_of_another_type_is_refused(name: str) -> None:
    for value in OTHERS[type(OPTIONS[name])]:
        with pytest.raises(InvalidArgumentError, match=f"{name} in options"):
            parse_config({name: value})


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"lern": True}, "perhaps learn"),
        ({"zzz": 1}, "one of CacheConfig"),
        ({"least_confidence": 101}, "0 to 100"),
        ({"failures": 0}, "1 to 1000"),
        ({"lifetime_l1": 0}, "seconds, more than 0"),
        ({"unused": float("inf")}, "seconds, more than 0"),
        ({"unused": float("nan")}, "seconds, more than 0"),
        ({"static_soft": 90, "static_hard": 80}, "soft <= hard"),
        ({"flow_confidence": 95}, "at most scenario_confidence"),
    ],
)
def test_values_out_of_range_and_unknown_options_are_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_config(options)
    assert word in str(caught.value)


def test_names_in_the_environment_are_options_too() -> None:
    with pytest.raises(InvalidArgumentError, match="perhaps learn"):
        parse_config({}, {"CDPENGINE_CACHE_LEARM": "false"})
    same = parse_config({}, {"CDPENGINE_CACHE_KEY": "x", "CDPENGINE_CACHE_CONFIG": "y", "HOME": "z"})
    assert same == CacheConfig()
    assert parse_config({}, {"CDPENGINE_CACHE_OWNER": "ada lovelace"}).owner == "ada lovelace"


@pytest.mark.parametrize("text", ["= 1", "learn = ", b"\xff\xfe", "[learn]"])
async def test_an_invalid_file_is_refused(tmp_path: Path, text: str | bytes) -> None:
    file = tmp_path / "cache.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidArgumentError):
        await read_config(file, environment={})


async def test_an_explicit_file_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "missing.toml"
    with pytest.raises(InvalidArgumentError, match="configuration"):
        await read_config(missing, environment={})
    with pytest.raises(InvalidArgumentError, match="configuration"):
        await read_config(environment={"CDPENGINE_CACHE_CONFIG": str(missing)})
    with pytest.raises(InvalidArgumentError, match="configuration"):
        await read_config(tmp_path, environment={})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert await read_config(environment={}) == CacheConfig()
    if default_config_path().is_relative_to(tmp_path):
        default_config_path().parent.mkdir()
        default_config_path().write_text("rounds = 7\n")
        assert (await read_config(environment={})).rounds == 7


def test_levels_lifetimes_and_thresholds_are_those_of_the_options() -> None:
    config = CacheConfig(use_flows=False, lifetime_l2=5.0, form_soft=10, form_hard=20)
    assert config.levels == {"L3", "L1"}
    assert [config.lifetime(level) for level in ("L3", "L2", "L1")] == [604_800.0, 5.0, 1_800.0]
    assert config.thresholds["form"] == Thresholds(soft=10, hard=20)
    assert [config.level(confidence) for confidence in (100, 85, 84, 70, 69, 0)] == [
        "L3", "L3", "L2", "L2", "L1", "L1",
    ]  # fmt: skip
