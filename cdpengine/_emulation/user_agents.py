"""User agents: the string, and the client hints that go with it. Pure.

Rule: what a page is told by the string, by `navigator.userAgentData` and by the Sec-CH-UA headers agrees. Browsers
that send no client hints (Safari, Firefox) send none here either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from cdpengine.errors import InvalidArgumentError

_CHROMIUM = re.compile(r"\b(?:Headless)?Chrom(?:e|ium)/(\d{1,5})((?:\.\d{1,6}){0,3})")
_EDGE = re.compile(r"\bEdg[A]?/(\d{1,5})((?:\.\d{1,6}){0,3})")
_ANDROID = re.compile(r"Android (\d{1,3}(?:\.\d{1,3}){0,2})(?:; ([^;)]{1,80}))?")
_MAC = re.compile(r"Mac OS X (\d{1,3}(?:[_.]\d{1,3}){0,2})")

_LONGEST = 1000


@attrs.frozen
class UserAgent:
    """A user agent: `text` is the string; the rest are client hints, None where they follow from the string.

    `brands` maps names to versions, {"Google Chrome": "140.0.7339.80", ...}; `platform` is the hint's ("Windows",
    "Android"), `navigator_platform` what `navigator.platform` says ("Win32"). With `hints=False` none are sent.
    """

    text: str
    brands: Mapping[str, str] | None = None
    platform: str | None = None
    platform_version: str | None = None
    architecture: str | None = None
    bitness: str | None = None
    model: str | None = None
    mobile: bool | None = None
    navigator_platform: str | None = None
    hints: bool = True


def check_user_agent(given: object) -> UserAgent:
    """Return a user agent, given as such or as its string. Raises InvalidArgumentError."""
    if not isinstance(given, str | UserAgent):
        kind = f"a {type(given).__name__}"
        raise InvalidArgumentError(what="user_agent", given=kind, expected="a str or a UserAgent")
    agent = UserAgent(given) if isinstance(given, str) else given
    for name in ("text", "platform", "platform_version", "architecture", "bitness", "model"):
        _check_text(f"user_agent.{name}", getattr(agent, name), required=name == "text")
    _check_text("user_agent.navigator_platform", agent.navigator_platform)
    brands: object = agent.brands
    if brands is not None:
        if not isinstance(brands, Mapping):
            kind = f"a {type(brands).__name__}"
            raise InvalidArgumentError(
                what="user_agent.brands", given=kind, expected="a mapping of names to versions"
            )
        for brand, version in brands.items():
            _check_text("user_agent.brands", brand, required=True)
            _check_text("user_agent.brands", version, required=True)
    for name in ("mobile", "hints"):
        if (flag := getattr(agent, name)) is not None and not isinstance(flag, bool):
            raise InvalidArgumentError(
                what=f"user_agent.{name}", given=repr(flag)[:40], expected="True or False"
            )
    return agent


def _check_text(what: str, text: object, *, required: bool = False) -> None:
    if text is None and not required:
        return
    fine = isinstance(text, str) and len(text) <= _LONGEST and (text != "" or not required)
    if not fine or not str(text).isascii() or (not str(text).isprintable() and text != ""):
        given = f"a {type(text).__name__}" if not isinstance(text, str) else f"{text[:40]!r}"
        expected = f"printable ASCII text of at most {_LONGEST} characters"
        raise InvalidArgumentError(what=what, given=given, expected=expected)


def metadata(agent: UserAgent) -> dict[str, Any] | None:
    """Return the client hints as `Emulation.UserAgentMetadata`; None where the browser would send none."""
    text = agent.text
    chrome = _CHROMIUM.search(text)
    if not agent.hints or (chrome is None and agent.brands is None):
        return None
    platform, version = _platform(text)
    mobile = ("Mobile" in text) if agent.mobile is None else agent.mobile
    android = _ANDROID.search(text)
    model = (android[2] or "").strip() if android is not None else ""
    tablet = platform == "Android" and not mobile
    brands = dict(agent.brands) if agent.brands is not None else _brands(text)
    desktop = platform not in ("Android", "iOS")
    return {
        "brands": [{"brand": name, "version": of.partition(".")[0]} for name, of in brands.items()],
        "fullVersionList": [{"brand": name, "version": of} for name, of in brands.items()],
        "platform": platform if agent.platform is None else agent.platform,
        "platformVersion": version if agent.platform_version is None else agent.platform_version,
        "architecture": agent.architecture if agent.architecture is not None else "x86" if desktop else "",
        "bitness": agent.bitness if agent.bitness is not None else "64" if desktop else "",
        "model": agent.model if agent.model is not None else "" if model == "K" else model,
        "mobile": mobile,
        "formFactors": ["Mobile"] if mobile else ["Tablet"] if tablet else ["Desktop"],
        "wow64": False,
    }


def navigator_platform(agent: UserAgent) -> str | None:
    """Return what `navigator.platform` is to say; None: what it says anyway."""
    if agent.navigator_platform is not None:
        return agent.navigator_platform
    text = agent.text
    for word, platform in _NAVIGATOR_PLATFORMS:
        if word in text:
            return platform
    return None


_NAVIGATOR_PLATFORMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Linux armv81"),
    ("Windows", "Win32"),
    ("Macintosh", "MacIntel"),
    ("Linux", "Linux x86_64"),
)


def _platform(text: str) -> tuple[str, str]:
    if (android := _ANDROID.search(text)) is not None:
        return "Android", _three(android[1])
    if "iPhone" in text or "iPad" in text:
        return "iOS", ""
    if "Windows" in text:
        return "Windows", "10.0.0"
    if (mac := _MAC.search(text)) is not None:
        return "macOS", _three(mac[1].replace("_", "."))
    if "CrOS" in text:
        return "Chrome OS", ""
    return ("Linux", "") if "Linux" in text else ("Unknown", "")


def _three(version: str) -> str:
    return ".".join((*version.split("."), "0", "0")[:3])


def _brands(text: str) -> dict[str, str]:
    chrome = _CHROMIUM.search(text)
    assert chrome is not None
    full = _four(chrome[1] + chrome[2])
    brands = {"Chromium": full}
    if (edge := _EDGE.search(text)) is not None:
        brands["Microsoft Edge"] = _four(edge[1] + edge[2])
    else:
        brands["HeadlessChrome" if "HeadlessChrome" in text else "Google Chrome"] = full
    # A brand that nobody has, as browsers add one, so that servers do not count on a closed list.
    return {**brands, "Not=A?Brand": "24.0.0.0"}


def _four(version: str) -> str:
    return ".".join((*version.split("."), "0", "0", "0")[:4])
