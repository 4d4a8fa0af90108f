"""The configuration of a cache, from the environment and a TOML file.

Rule: the environment takes precedence over the file, and the file over the defaults. An unknown name, a value
of a wrong type and a value out of range are errors. The message names the place. Nothing is guessed.
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

from cdpengine._checks import check_count, check_number, checked
from cdpengine.cache.changes import THRESHOLDS, PageType, Thresholds
from cdpengine.cache.entries import LIFETIMES, Level
from cdpengine.errors import InvalidArgumentError, os_reason, packages_named

ENVIRONMENT_PREFIX = "CDPENGINE_CACHE_"
"""Prefix of an option in the environment. The name follows in capitals: CDPENGINE_CACHE_LEARN=false."""

_NOT_OPTIONS = frozenset({"KEY", "CONFIG"})
"""Environment variables with the prefix that are no options: the encryption key and the path of the file."""

LONGEST_FILE = 1_000_000
"""Maximum size of a configuration file, in bytes."""


_CONFIDENCE = checked(check_count, most=100)
_SECONDS = checked(check_number, above=0, unit="seconds")


def _at_most(most: int) -> Any:
    return checked(check_count, least=1, most=most)


@attrs.frozen(kw_only=True)
class CacheConfig:
    """The options of a cache. Times are in seconds, confidences are from 0 to 100.

    enabled: False disables searching and learning.
    auto_use: False disables automatic replays. `perform` then always asks the planner.
    learn: False does not store the steps of a planner.
    use_flows, use_actions: whether the cache also uses entries of the levels L2 and L1.

    least_confidence: the minimum confidence of a recognized scenario.
    scenario_confidence, flow_confidence: the minimum confidence for a new L3 entry and for a new L2 entry.
        Below both, the new entry is L1.
    history: the number of earlier sentences that the recognizer remembers.
    extract_variables: whether the cache extracts values from the sentence.

    detect_changes: whether the engine compares the page with the entry's features before the first step.
    static_soft to dynamic_hard: the minimum confidence of a soft or hard change, by page type.
    failures: the number of consecutive failed runs and reports after which an entry is disabled.

    lifetime_l3, lifetime_l2, lifetime_l1: the lifetime of entries by level.
    entries, megabytes, unused: the limits of the file.

    owner: the owner of the visible entries.
    require_key: whether opening a file without an encryption key is an error.
    keyring: False does not query the keyring for the key.
    statistics: False counts only the runs of each entry.
    rounds: the maximum number of requests to a planner for one goal.
    """

    enabled: bool = True
    auto_use: bool = True
    learn: bool = True
    use_flows: bool = True
    use_actions: bool = True
    least_confidence: int = attrs.field(default=60, validator=_CONFIDENCE)
    scenario_confidence: int = attrs.field(default=85, validator=_CONFIDENCE)
    flow_confidence: int = attrs.field(default=70, validator=_CONFIDENCE)
    history: int = attrs.field(default=500, validator=_at_most(100_000))
    extract_variables: bool = True
    detect_changes: bool = True
    static_soft: int = THRESHOLDS["static"].soft
    static_hard: int = THRESHOLDS["static"].hard
    form_soft: int = THRESHOLDS["form"].soft
    form_hard: int = THRESHOLDS["form"].hard
    dynamic_soft: int = THRESHOLDS["dynamic"].soft
    dynamic_hard: int = THRESHOLDS["dynamic"].hard
    failures: int = attrs.field(default=3, validator=_at_most(1_000))
    lifetime_l3: float = attrs.field(default=LIFETIMES["L3"], validator=_SECONDS)
    lifetime_l2: float = attrs.field(default=LIFETIMES["L2"], validator=_SECONDS)
    lifetime_l1: float = attrs.field(default=LIFETIMES["L1"], validator=_SECONDS)
    entries: int = attrs.field(default=5_000, validator=_at_most(1_000_000))
    megabytes: int = attrs.field(default=64, validator=_at_most(100_000))
    unused: float = attrs.field(default=90 * 86_400.0, validator=_SECONDS)
    owner: str = ""
    require_key: bool = False
    keyring: bool = True
    statistics: bool = True
    rounds: int = attrs.field(default=20, validator=_at_most(1_000))

    def __attrs_post_init__(self) -> None:
        """Raise InvalidArgumentError for thresholds in the wrong order."""
        _ = self.thresholds
        if self.flow_confidence > self.scenario_confidence:
            found = f"{self.flow_confidence}, above scenario_confidence ({self.scenario_confidence})"
            raise InvalidArgumentError("flow_confidence", found, "at most scenario_confidence")

    @property
    def thresholds(self) -> Mapping[PageType, Thresholds]:
        """The thresholds by page type."""
        return {
            "static": Thresholds(soft=self.static_soft, hard=self.static_hard),
            "form": Thresholds(soft=self.form_soft, hard=self.form_hard),
            "dynamic": Thresholds(soft=self.dynamic_soft, hard=self.dynamic_hard),
        }

    @property
    def levels(self) -> frozenset[Level]:
        """The levels of the entries that the cache uses."""
        used: dict[Level, bool] = {"L3": True, "L2": self.use_flows, "L1": self.use_actions}
        return frozenset(level for level, is_used in used.items() if is_used)

    def lifetime(self, level: Level) -> float:
        """Return the lifetime of entries of a level, in seconds."""
        return {"L3": self.lifetime_l3, "L2": self.lifetime_l2, "L1": self.lifetime_l1}[level]

    def level(self, confidence: int) -> Level:
        """Return the level of a new entry for a scenario recognized with this confidence."""
        if confidence >= self.scenario_confidence:
            return "L3"
        return "L2" if confidence >= self.flow_confidence else "L1"


def default_path() -> Path:
    """Return the default path of the store, in the user's data folder.

    Raises PackageMissingError if the package `platformdirs` is not installed.
    """
    with packages_named():
        import platformdirs
    return Path(platformdirs.user_data_path("cdpengine", appauthor=False)) / "cache.sqlite3"


def default_config_path() -> Path:
    """Return the default path of the options, in the user's configuration folder.

    Raises PackageMissingError if the package `platformdirs` is not installed.
    """
    with packages_named():
        import platformdirs
    return Path(platformdirs.user_config_path("cdpengine", appauthor=False)) / "cache.toml"


async def read_config(
    path: str | Path | None = None, *, environment: Mapping[str, str] | None = None
) -> CacheConfig:
    """Read the options from a TOML file and the environment.

    path: the file; by default CDPENGINE_CACHE_CONFIG, then the user's file (`default_config_path`). The
        user's file need not exist.
    environment: by default the environment of the process.

    Raises InvalidArgumentError for an unknown option and for an unreadable file.
    """
    variables = os.environ if environment is None else environment
    named = path if path is not None else variables.get(f"{ENVIRONMENT_PREFIX}CONFIG")
    file = default_config_path() if named is None else Path(named)
    options = await trio.to_thread.run_sync(_read_file, file, named is not None)
    return parse_config(options, variables, place=file.name)


def parse_config(
    options: Mapping[str, Any], environment: Mapping[str, str] | None = None, *, place: str = "options"
) -> CacheConfig:
    """Return the configuration from options and an environment. Raises InvalidArgumentError."""
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
        reason = os_reason(error) if isinstance(error, OSError) else "text that is not TOML"
        raise InvalidArgumentError("configuration", reason, "a TOML file") from None


def _parse_value(text: str) -> Any:
    """Parse a value from the environment as TOML. A string needs no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _checked(name: str, value: Any, place: str) -> Any:
    """Check and return the value of an option. An integer is also valid for a number of seconds."""
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
