"""Devices and user agents: the screen and the browser that pages see, as data. Pure.

Rule: a row of the table has a device's factory settings: its screen in portrait orientation, in CSS pixels, and
its scale. A Chrome user agent has the version of the running browser. The user agent string,
`navigator.userAgentData` and the Sec-CH-UA headers agree. Browsers without client hints (Safari, Firefox) send
none here either.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any, Literal

import attrs

from cdpengine._checks import check_flag, check_string, invalid, wrong_type
from cdpengine.errors import InvalidArgumentError

Kind = Literal["iphone", "ipad", "android phone", "android tablet", "windows", "mac", "linux"]

_SAFARI = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{safari} {mobile}Safari/{build}"
_CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 {mobile}Safari/537.36"


@attrs.frozen
class Device:
    """A device. `width` and `height` are its screen in portrait, in CSS pixels; `system` is the OS version.

    `bars` is the height of the browser's bars, in CSS pixels.
    """

    name: str
    kind: Kind
    width: int
    height: int
    scale: float
    system: str = ""
    model: str = ""
    bars: int = 0

    @property
    def mobile(self) -> bool:
        """Whether its browser uses the layout of mobile browsers."""
        return self.kind in ("iphone", "ipad", "android phone", "android tablet")

    def user_agent(self, chrome_version: str) -> UserAgent:
        """Return its browser's user agent. `chrome_version` is the running browser's version: "140.0.7339.80"."""
        major = chrome_version.partition(".")[0]
        brands = {"Chromium": chrome_version, "Google Chrome": chrome_version, "Not=A?Brand": "24.0.0.0"}
        match self.kind:
            case "iphone" | "ipad":
                cpu = "CPU iPhone OS" if self.kind == "iphone" else "CPU OS"
                device = "iPhone" if self.kind == "iphone" else "iPad"
                safari = _SAFARI.format(safari=self.system, mobile="Mobile/15E148 ", build="604.1")
                underscored = self.system.replace(".", "_")
                text = f"Mozilla/5.0 ({device}; {cpu} {underscored} like Mac OS X) {safari}"
                return UserAgent(text, hints=False, navigator_platform=device)
            case "android phone" | "android tablet":
                phone = self.kind == "android phone"
                chrome = _CHROME.format(major=major, mobile="Mobile " if phone else "")
                # Chrome calls every Android device "K" with Android 10; the hints have the real values.
                return UserAgent(
                    f"Mozilla/5.0 (Linux; Android 10; K) {chrome}",
                    brands=brands,
                    platform="Android",
                    platform_version=f"{self.system}.0.0",
                    model=self.model,
                    mobile=phone,
                    navigator_platform="Linux armv81",
                )
            case "windows":
                system, platform, version = "Windows NT 10.0; Win64; x64", "Windows", self.system
            case "mac":
                system, platform, version = "Macintosh; Intel Mac OS X 10_15_7", "macOS", self.system
            case "linux":
                system, platform, version = "X11; Linux x86_64", "Linux", self.system
        return UserAgent(
            f"Mozilla/5.0 ({system}) {_CHROME.format(major=major, mobile='')}",
            brands=brands,
            platform=platform,
            platform_version=version,
            architecture="arm" if self.kind == "mac" else "x86",
            bitness="64",
            mobile=False,
        )


def _phones(kind: Kind, system: str, *rows: tuple[str, int, int, float, str, int]) -> list[Device]:
    return [Device(name, kind, w, h, scale, system, model, bars) for name, w, h, scale, model, bars in rows]


_ALL = [
    *_phones(
        "iphone",
        "18.5",
        ("iPhone SE (3rd generation)", 375, 667, 2, "", 114),
        ("iPhone XR", 414, 896, 2, "", 195),
        ("iPhone 11", 414, 896, 2, "", 195),
        ("iPhone 11 Pro", 375, 812, 3, "", 194),
        ("iPhone 11 Pro Max", 414, 896, 3, "", 195),
        ("iPhone 12 mini", 375, 812, 3, "", 200),
        ("iPhone 12", 390, 844, 3, "", 197),
        ("iPhone 12 Pro", 390, 844, 3, "", 197),
        ("iPhone 12 Pro Max", 428, 926, 3, "", 197),
        ("iPhone 13 mini", 375, 812, 3, "", 200),
        ("iPhone 13", 390, 844, 3, "", 197),
        ("iPhone 13 Pro", 390, 844, 3, "", 197),
        ("iPhone 13 Pro Max", 428, 926, 3, "", 197),
        ("iPhone 14", 390, 844, 3, "", 197),
        ("iPhone 14 Plus", 428, 926, 3, "", 197),
        ("iPhone 14 Pro", 393, 852, 3, "", 193),
        ("iPhone 14 Pro Max", 430, 932, 3, "", 193),
        ("iPhone 15", 393, 852, 3, "", 193),
        ("iPhone 15 Plus", 430, 932, 3, "", 193),
        ("iPhone 15 Pro", 393, 852, 3, "", 193),
        ("iPhone 15 Pro Max", 430, 932, 3, "", 193),
        ("iPhone 16", 393, 852, 3, "", 193),
        ("iPhone 16e", 390, 844, 3, "", 197),
        ("iPhone 16 Plus", 430, 932, 3, "", 193),
        ("iPhone 16 Pro", 402, 874, 3, "", 197),
        ("iPhone 16 Pro Max", 440, 956, 3, "", 197),
    ),
    *_phones(
        "iphone",
        "26.0",
        ("iPhone 17", 402, 874, 3, "", 197),
        ("iPhone Air", 420, 912, 3, "", 197),
        ("iPhone 17 Pro", 402, 874, 3, "", 197),
        ("iPhone 17 Pro Max", 440, 956, 3, "", 197),
    ),
    *_phones(
        "ipad",
        "18.5",
        ("iPad (9th generation)", 810, 1080, 2, "", 74),
        ("iPad (10th generation)", 820, 1180, 2, "", 74),
        ("iPad (A16)", 820, 1180, 2, "", 74),
        ("iPad mini (6th generation)", 744, 1133, 2, "", 74),
        ("iPad mini (A17 Pro)", 744, 1133, 2, "", 74),
        ("iPad Air 11", 820, 1180, 2, "", 74),
        ("iPad Air 13", 1024, 1366, 2, "", 74),
        ("iPad Pro 11", 834, 1210, 2, "", 74),
        ("iPad Pro 13", 1032, 1376, 2, "", 74),
    ),
    *_phones(
        "android phone",
        "16",
        ("Pixel 6a", 412, 915, 2.625, "Pixel 6a", 76),
        ("Pixel 7", 412, 915, 2.625, "Pixel 7", 76),
        ("Pixel 7a", 412, 915, 2.625, "Pixel 7a", 76),
        ("Pixel 7 Pro", 412, 892, 3.5, "Pixel 7 Pro", 76),
        ("Pixel 8", 412, 915, 2.625, "Pixel 8", 76),
        ("Pixel 8a", 412, 915, 2.625, "Pixel 8a", 76),
        ("Pixel 8 Pro", 448, 998, 3, "Pixel 8 Pro", 76),
        ("Pixel 9", 412, 923, 2.625, "Pixel 9", 76),
        ("Pixel 9a", 412, 923, 2.625, "Pixel 9a", 76),
        ("Pixel 9 Pro", 427, 952, 3, "Pixel 9 Pro", 76),
        ("Pixel 9 Pro XL", 448, 997, 3, "Pixel 9 Pro XL", 76),
        ("Pixel 10", 412, 923, 2.625, "Pixel 10", 76),
        ("Pixel 10 Pro", 427, 952, 3, "Pixel 10 Pro", 76),
        ("Pixel 10 Pro XL", 448, 997, 3, "Pixel 10 Pro XL", 76),
        ("Galaxy A15", 412, 892, 2.625, "SM-A155F", 76),
        ("Galaxy A55", 412, 892, 2.625, "SM-A556B", 76),
        ("Galaxy S22", 360, 780, 3, "SM-S901B", 76),
        ("Galaxy S23", 360, 780, 3, "SM-S911B", 76),
        ("Galaxy S23 Ultra", 384, 824, 3.75, "SM-S918B", 76),
        ("Galaxy S24", 360, 780, 3, "SM-S921B", 76),
        ("Galaxy S24+", 384, 832, 3.75, "SM-S926B", 76),
        ("Galaxy S24 Ultra", 384, 832, 3.75, "SM-S928B", 76),
        ("Galaxy S25", 360, 780, 3, "SM-S931B", 76),
        ("Galaxy S25+", 384, 832, 3.75, "SM-S936B", 76),
        ("Galaxy S25 Ultra", 384, 832, 3.75, "SM-S938B", 76),
        ("Galaxy Z Flip6", 412, 1006, 2.625, "SM-F741B", 76),
        ("Galaxy Z Fold6 (folded)", 323, 792, 3, "SM-F956B", 76),
        ("Xiaomi 14", 393, 873, 3.0625, "23127PN0CG", 76),
        ("Redmi Note 13", 393, 873, 2.75, "23124RA7EO", 76),
        ("OnePlus 12", 412, 915, 3.5, "CPH2581", 76),
    ),
    *_phones(
        "android tablet",
        "15",
        ("Pixel Tablet", 800, 1280, 2, "Pixel Tablet", 80),
        ("Galaxy Tab A9+", 800, 1280, 1.5, "SM-X210", 80),
        ("Galaxy Tab S9", 800, 1280, 2, "SM-X710", 80),
        ("Galaxy Tab S9 Ultra", 924, 1480, 2, "SM-X910", 80),
        ("Galaxy Z Fold6 (open)", 619, 720, 3, "SM-F956B", 80),
    ),
    Device("Desktop", "windows", 1280, 720, 1, "15.0.0"),
    Device("Desktop 1080p", "windows", 1920, 1080, 1, "15.0.0", bars=137),
    Device("Desktop 1440p", "windows", 2560, 1440, 1, "15.0.0", bars=137),
    Device("Desktop 4K at 150 %", "windows", 2560, 1440, 1.5, "15.0.0", bars=137),
    Device("Laptop 1366", "windows", 1366, 768, 1, "15.0.0", bars=137),
    Device("Laptop 1080p at 125 %", "windows", 1536, 864, 1.25, "15.0.0", bars=137),
    Device("Linux desktop 1080p", "linux", 1920, 1080, 1, "6.8.0", bars=120),
    Device("MacBook Air 13", "mac", 1470, 956, 2, "15.5.0", bars=155),
    Device("MacBook Pro 14", "mac", 1512, 982, 2, "15.5.0", bars=155),
    Device("MacBook Pro 16", "mac", 1728, 1117, 2, "15.5.0", bars=155),
    Device("iMac 24", "mac", 2240, 1260, 2, "15.5.0", bars=155),
]

DEVICES: dict[str, Device] = {device.name: device for device in _ALL}
"""All devices, by their names."""


def find_device(name: object) -> Device:
    """Return the device of that name, ignoring case. Raises InvalidArgumentError, which lists similar names."""
    if isinstance(name, Device):
        return name
    folded_name = " ".join(check_string("device", name, "the name of a device").split()).casefold()
    for device in _ALL:
        if device.name.casefold() == folded_name:
            return device
    folded = {known.casefold(): known for known in DEVICES}
    near = [folded[match] for match in difflib.get_close_matches(folded_name, folded, n=3, cutoff=0.5)]
    hint = ", ".join(repr(match) for match in near) or "one of cdpengine.DEVICES"
    raise invalid("device", name, hint)


_CHROMIUM = re.compile(r"\b(?:Headless)?Chrom(?:e|ium)/(\d{1,5})((?:\.\d{1,6}){0,3})")
_EDGE = re.compile(r"\bEdg[A]?/(\d{1,5})((?:\.\d{1,6}){0,3})")
_ANDROID = re.compile(r"Android (\d{1,3}(?:\.\d{1,3}){0,2})(?:; ([^;)]{1,80}))?")
_MAC = re.compile(r"Mac OS X (\d{1,3}(?:[_.]\d{1,3}){0,2})")

_LONGEST = 1000


@attrs.frozen
class UserAgent:
    """A user agent: `text` is the string; the rest are client hints, or None to derive them from the string.

    `brands` maps names to versions, {"Google Chrome": "140.0.7339.80", ...}. `platform` is the client hint
    ("Windows", "Android"), `navigator_platform` the value of `navigator.platform` ("Win32"). With `hints=False`,
    none are sent.
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
    """Return the user agent, passed as an object or as its string. Raises InvalidArgumentError."""
    if not isinstance(given, str | UserAgent):
        raise wrong_type("user_agent", given, "a str or a UserAgent")
    agent = UserAgent(given) if isinstance(given, str) else given
    for name in ("text", "platform", "platform_version", "architecture", "bitness", "model"):
        _check_text(f"user_agent.{name}", getattr(agent, name), required=name == "text")
    _check_text("user_agent.navigator_platform", agent.navigator_platform)
    brands: object = agent.brands
    if brands is not None:
        if not isinstance(brands, Mapping):
            raise wrong_type("user_agent.brands", brands, "a mapping of names to versions")
        for brand, version in brands.items():
            _check_text("user_agent.brands", brand, required=True)
            _check_text("user_agent.brands", version, required=True)
    for name in ("mobile", "hints"):
        if (flag := getattr(agent, name)) is not None:
            check_flag(f"user_agent.{name}", flag)
    return agent


def metadata(agent: UserAgent) -> dict[str, Any] | None:
    """Return the client hints as `Emulation.UserAgentMetadata`, or None if the browser would send none."""
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
    """Return the value for `navigator.platform`, or None to keep Chrome's value."""
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


def _check_text(what: str, text: object, *, required: bool = False) -> None:
    if text is None and not required:
        return
    fine = isinstance(text, str) and len(text) <= _LONGEST and (text != "" or not required)
    if not fine or not str(text).isascii() or (not str(text).isprintable() and text != ""):
        given = f"a {type(text).__name__}" if not isinstance(text, str) else f"{text[:40]!r}"
        expected = f"printable ASCII characters, at most {_LONGEST}"
        raise InvalidArgumentError(what=what, given=given, expected=expected)


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
    # A brand that does not exist; browsers add one so that servers do not rely on a closed list.
    return {**brands, "Not=A?Brand": "24.0.0.0"}


def _four(version: str) -> str:
    return ".".join((*version.split("."), "0", "0", "0")[:4])
