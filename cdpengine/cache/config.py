"""How a cache behaves: one class, and where its options are read from.

Rule: an option comes from the first of these that has it: the environment, the file, its default. A name that
there is not, and a value of another type or out of its range, is refused with where it stands; nothing is
guessed.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import trio

from cdpengine.cache.changes import THRESHOLDS, PageType, Thresholds
from cdpengine.cache.entries import LIFETIMES, Level
from cdpengine.errors import InvalidArgumentError, os_reason, packages_named

ENVIRONMENT_PREFIX = "CDPENGINE_CACHE_"
"""What an option's name has before it in the environment, in capitals: CDPENGINE_CACHE_LEARN=false."""

_NOT_OPTIONS = frozenset({"KEY", "CONFIG"})
"""Names in the environment that are something else: the key of the file, and where the configuration is."""

LONGEST_FILE = 1_000_000
"""Bytes of a file of options."""


def _whole(least: int, most: int) -> Any:
    def check(_: object, field: attrs.Attribute[int], value: int) -> None:
        if not least <= value <= most:
            raise InvalidArgumentError(field.name, str(value), f"{least} to {most}")

    return check


def _seconds(_: object, field: attrs.Attribute[float], value: float) -> None:
    if not 0 < value < float("inf"):
        raise InvalidArgumentError(field.name, str(value), "more than 0 seconds")


@attrs.frozen(kw_only=True)
class CacheConfig:
    """The options of a cache. Times are seconds, confidences are from 0 to 100.

    `enabled` False finds nothing and learns nothing. `auto_use` False replays nothing by itself: `perform` asks
    the planner each time. `learn` False keeps nothing of what a planner did. `use_flows` and `use_actions` say
    whether entries of the levels L2 and L1 are used beside those of L3.

    `least_confidence` is how sure a scenario has to be; from `scenario_confidence` on what is learned of it is an
    L3 entry, from `flow_confidence` on an L2, else an L1. `history` is how many earlier sentences are remembered.
    `extract_variables` takes values out of the sentence itself.

    `detect_changes` compares the page with what is remembered of it before the first step. The six thresholds say
    from which confidence a change is soft or hard, by the type of the page. `failures` is after how many failed
    runs and reports in a row an entry is not used any more.

    `lifetime_l3`, `lifetime_l2` and `lifetime_l1` are for how long entries are taken as they are. `entries`,
    `megabytes` and `unused` limit the file.

    `owner` is whose entries are seen. `require_key` refuses to open a file without a key to encrypt with;
    `keyring` False asks no keyring for one. `statistics` False counts nothing but the runs of each entry. `rounds`
    is how often a planner is asked for one goal at most.
    """

    enabled: bool = True
    auto_use: bool = True
    learn: bool = True
    use_flows: bool = True
    use_actions: bool = True
    least_confidence: int = attrs.field(default=60, validator=_whole(0, 100))
    scenario_confidence: int = attrs.field(default=85, validator=_whole(0, 100))
    flow_confidence: int = attrs.field(default=70, validator=_whole(0, 100))
    history: int = attrs.field(default=500, validator=_whole(1, 100_000))
    extract_variables: bool = True
    detect_changes: bool = True
    static_soft: int = THRESHOLDS["static"].soft
    static_hard: int = THRESHOLDS["static"].hard
    form_soft: int = THRESHOLDS["form"].soft
    form_hard: int = THRESHOLDS["form"].hard
    dynamic_soft: int = THRESHOLDS["dynamic"].soft
    dynamic_hard: int = THRESHOLDS["dynamic"].hard
    failures: int = attrs.field(default=3, validator=_whole(1, 1_000))
    lifetime_l3: float = attrs.field(default=LIFETIMES["L3"], validator=_seconds)
    lifetime_l2: float = attrs.field(default=LIFETIMES["L2"], validator=_seconds)
    lifetime_l1: float = attrs.field(default=LIFETIMES["L1"], validator=_seconds)
    entries: int = attrs.field(default=5_000, validator=_whole(1, 1_000_000))
    megabytes: int = attrs.field(default=64, validator=_whole(1, 100_000))
    unused: float = attrs.field(default=90 * 86_400.0, validator=_seconds)
    owner: str = ""
    require_key: bool = False
    keyring: bool = True
    statistics: bool = True
    rounds: int = attrs.field(default=20, validator=_whole(1, 1_000))

    def __attrs_post_init__(self) -> None:
        """Raise InvalidArgumentError for thresholds that are out of order."""
        _ = self.thresholds
        if self.flow_confidence > self.scenario_confidence:
            given = f"{self.flow_confidence}, above scenario_confidence ({self.scenario_confidence})"
            raise InvalidArgumentError("flow_confidence", given, "at most scenario_confidence")

    @property
    def thresholds(self) -> Mapping[PageType, Thresholds]:
        """The thresholds by the type of the page."""
        return {
            "static": Thresholds(soft=self.static_soft, hard=self.static_hard),
            "form": Thresholds(soft=self.form_soft, hard=self.form_hard),
            "dynamic": Thresholds(soft=self.dynamic_soft, hard=self.dynamic_hard),
        }

    @property
    def levels(self) -> frozenset[Level]:
        """The levels whose entries are used."""
        used: dict[Level, bool] = {"L3": True, "L2": self.use_flows, "L1": self.use_actions}
        return frozenset(level for level, is_used in used.items() if is_used)

    def lifetime(self, level: Level) -> float:
        """Return for how long an entry of a level is taken as it is, in seconds."""
        return {"L3": self.lifetime_l3, "L2": self.lifetime_l2, "L1": self.lifetime_l1}[level]

    def level(self, confidence: int) -> Level:
        """Return the level of what is learned of a scenario that was recognised with this confidence."""
        if confidence >= self.scenario_confidence:
            return "L3"
        return "L2" if confidence >= self.flow_confidence else "L1"


def default_path() -> Path:
    """Return where the store is when no path is given: in the user's data folder, as the system has it.

    Raises PackageMissingError where the package `platformdirs` is not installed.
    """
    with packages_named():
        import platformdirs
    return Path(platformdirs.user_data_path("cdpengine", appauthor=False)) / "cache.sqlite3"


def default_config_path() -> Path:
    """Return where the options of the user are: in the folder for configuration, as the system has it.

    Raises PackageMissingError where the package `platformdirs` is not installed.
    """
    with packages_named():
        import platformdirs
    return Path(platformdirs.user_config_path("cdpengine", appauthor=False)) / "cache.toml"


async def read_config(
    path: str | Path | None = None, *, environment: Mapping[str, str] | None = None
) -> CacheConfig:
    """Return the options of a TOML file and of the environment.

    path: the file; without, CDPENGINE_CACHE_CONFIG, and then that of the user (`default_config_path`), which need
        not be there.
    environment: without, that of the process.

    Raises InvalidArgumentError for what `CacheConfig` has not, and for a file that cannot be read.
    """
    variables = os.environ if environment is None else environment
    named = path if path is not None else variables.get(f"{ENVIRONMENT_PREFIX}CONFIG")
    file = default_config_path() if named is None else Path(named)
    options = await trio.to_thread.run_sync(_read_file, file, named is not None)
    return parse_config(options, variables, place=file.name)


def parse_config(
    options: Mapping[str, Any], environment: Mapping[str, str] | None = None, *, place: str = "options"
) -> CacheConfig:
    """Return the configuration of these options, and of those in an environment. Raises InvalidArgumentError."""
    found = {name: _checked(name, value, place) for name, value in options.items()}
    for variable, text in sorted((environment or {}).items()):
        name = variable.removeprefix(ENVIRONMENT_PREFIX)
        if name != variable and name not in _NOT_OPTIONS:
            found[name.lower()] = _checked(name.lower(), _parse_value(text), "the environment")
    return CacheConfig(**found)


def _read_file(path: Path, must_be_there: bool) -> dict[str, Any]:
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise InvalidArgumentError("configuration", "a file of over a megabyte", "options of a cache")
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        if must_be_there:
            raise InvalidArgumentError("configuration", os_reason(error), "a TOML file") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        given = os_reason(error) if isinstance(error, OSError) else "text that is not TOML"
        raise InvalidArgumentError("configuration", given, "a TOML file") from None


def _parse_value(text: str) -> Any:
    """Return the value that a text in the environment is: as in TOML, and a text without quotes is itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _checked(name: str, value: Any, place: str) -> Any:
    """Return the value of an option, a whole number for one of seconds as well."""
    known = {field.name: type(field.default) for field in attrs.fields(CacheConfig)}
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"perhaps {near[0]}" if near else "one of CacheConfig"
        raise InvalidArgumentError(f"option in {place}", repr(name[:40]), hint)
    kind = known[name]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        expected = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[kind]
        raise InvalidArgumentError(f"{name} in {place}", f"a {type(value).__name__}", expected)
    return value
