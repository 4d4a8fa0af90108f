"""Emulation as data: checked options, devices, user agents with hints, and the resulting commands."""

from __future__ import annotations

import math
from typing import Any

import pytest

import cdpengine
from cdpengine._emulation.commands import EVALUATION_SESSION, UNDO, Command, commands
from cdpengine._emulation.devices import (
    DEVICES,
    UserAgent,
    check_user_agent,
    find_device,
    metadata,
    navigator_platform,
)
from cdpengine._emulation.options import OF_A_DEVICE, Geolocation, check_options, parse_viewport

VERSION = "156.0.8078.79"


def settings(**options: Any) -> dict[str, Any]:
    return check_options(options, VERSION)


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("emulate", {}),
    ("emulate", {"timezon": "UTC"}),
    ("device", {"device": "iPhone 99"}),
    ("device", {"device": 5}),
    ("landscape", {"landscape": True}),
    ("landscape", {"landscape": 1, "device": "iPhone 16"}),
    ("viewport", {"viewport": 5}),
    ("viewport", {"viewport": (0, 5)}),
    ("viewport", {"viewport": (5,)}),
    ("viewport", {"viewport": (5.5, 6)}),
    ("viewport", {"viewport": (True, 6)}),
    ("screen", {"screen": "800x600"}),
    ("device_scale_factor", {"device_scale_factor": 0}),
    ("device_scale_factor", {"device_scale_factor": math.nan}),
    ("device_scale_factor", {"device_scale_factor": True}),
    ("mobile", {"mobile": 1}),
    ("touch", {"touch": "yes"}),
    ("user_agent", {"user_agent": ""}),
    ("user_agent", {"user_agent": "a\nb"}),
    ("user_agent", {"user_agent": "ä"}),
    ("user_agent", {"user_agent": 5}),
    ("user_agent.brands", {"user_agent": UserAgent("x", brands={"a": 5})}),  # type: ignore[dict-item]
    ("user_agent.mobile", {"user_agent": UserAgent("x", mobile="no")}),  # type: ignore[arg-type]
    ("locale", {"locale": "german"}),
    ("locale", {"locale": "de,en"}),
    ("timezone", {"timezone": "Nowhere/City"}),
    ("timezone", {"timezone": "europe/berlin"}),
    ("timezone", {"timezone": "../../etc/passwd"}),
    ("geolocation", {"geolocation": 5}),
    ("geolocation", {"geolocation": (1, 2, 3)}),
    ("geolocation.latitude", {"geolocation": (91, 0)}),
    ("geolocation.longitude", {"geolocation": (0, math.inf)}),
    ("geolocation.accuracy", {"geolocation": Geolocation(0, 0, -1)}),
    ("color_scheme", {"color_scheme": "blue"}),
    ("reduced_motion", {"reduced_motion": True}),
    ("forced_colors", {"forced_colors": "yes"}),
    ("contrast", {"contrast": "high"}),
    ("media", {"media": "paper"}),
]


@pytest.mark.parametrize(("named", "wrong"), WRONG)
def test_invalid_emulation_options(named: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError) as caught:
        check_options(wrong, VERSION)
    assert caught.value.what == named or caught.value.what.startswith(named)


def test_the_nearest_device_is_named() -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="'iPhone 16 Pro'"):
        find_device("iphone 16pro")
    assert find_device("IPHONE  16 pro").name == "iPhone 16 Pro"


def test_a_viewport_in_words() -> None:
    assert [parse_viewport(text) for text in ("1280x720", " 1X2 ", "None")] == [(1280, 720), (1, 2), None]
    for wrong in (
        "",
        "x",
        "1280",
        "1280x",
        "0x5",
        "1280x720x3",
        "-1x5",
        "1.5x2",
        "1²x2",
        "nonex",
        "9" * 50 + "x1",
    ):
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="viewport"):
            parse_viewport(wrong)


def test_none_means_no_emulation() -> None:
    assert settings(timezone=None) == {"timezone": None}
    assert settings(device=None) == dict.fromkeys(OF_A_DEVICE) | {"viewport": "default"}
    plain = settings(device=None, timezone=None, color_scheme=None)
    assert commands({**plain, "viewport": None}, "page") == {}


def test_explicit_options_override_a_device() -> None:
    made = settings(viewport=(300, 400), device="Pixel 9", touch=False)
    assert made["viewport"] == (300, 400)
    assert made["touch"] is False
    assert made["mobile"] is True


def test_turned() -> None:
    upright, turned = settings(device="iPhone 16"), settings(device="iPhone 16", landscape=True)
    assert turned["screen"] == upright["screen"][::-1]
    assert commands(turned, "page")["metrics"].params["screenOrientation"]["type"] == "landscapePrimary"
    assert commands(upright, "page")["metrics"].params["screenOrientation"]["type"] == "portraitPrimary"


@pytest.mark.parametrize("name", DEVICES)
def test_every_device_is_in_order(name: str) -> None:
    device = DEVICES[name]
    made = settings(device=name)
    assert 0 < device.bars + 200 < device.height or device.bars == 0
    assert device.height >= device.width or not device.mobile
    assert 1 <= device.scale <= 4
    agent = check_user_agent(made["user_agent"])
    assert ("Mobile" in agent.text) == (device.kind in ("iphone", "ipad", "android phone"))
    hints = metadata(agent)
    assert (hints is None) == (device.kind in ("iphone", "ipad"))
    if hints is not None:
        assert hints["mobile"] == (device.kind == "android phone")
        assert {"brand": "Google Chrome", "version": VERSION} in hints["fullVersionList"]
        assert {"brand": "Google Chrome", "version": "156"} in hints["brands"]
        assert "Chrome/156.0.0.0" in agent.text
        assert bool(hints["model"]) == device.mobile
    assert commands(made, "page").keys() == {"metrics", "touch", "user_agent"}


@pytest.mark.parametrize(
    ("text", "hints", "platform"),
    [
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
            ("Windows", False, "Microsoft Edge"),
            "Win32",
        ),
        (
            "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.1.2 Mobile Safari/537.36",
            ("Android", True, "Google Chrome"),
            "Linux armv81",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
            ("macOS", False, "Google Chrome"),
            "MacIntel",
        ),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", None, "Linux x86_64"),
        ("curl/8.0", None, None),
    ],
)
def test_hints_follow_from_the_string(
    text: str, hints: tuple[str, bool, str] | None, platform: str | None
) -> None:
    agent = check_user_agent(text)
    made = metadata(agent)
    assert navigator_platform(agent) == platform
    if hints is None:
        assert made is None
    else:
        assert made is not None
        assert (made["platform"], made["mobile"]) == hints[:2]
        assert hints[2] in [brand["brand"] for brand in made["brands"]]
        assert metadata(UserAgent(text, hints=False)) is None


def test_the_commands() -> None:
    made = settings(
        locale="de_CH",
        timezone="Asia/Tokyo",
        geolocation=Geolocation(1, 2, altitude=5),
        color_scheme="dark",
        media="print",
        device_scale_factor=2,
    )
    page = commands(made, "page")
    assert page["user_agent"].params == {"userAgent": "", "acceptLanguage": "de-CH,de"}
    assert page["locale"].params == {"locale": "de-CH"}
    assert page["geolocation"].params == {"latitude": 1, "longitude": 2, "accuracy": 1.0, "altitude": 5}
    assert page["media"].params == {
        "media": "print",
        "features": [{"name": "prefers-color-scheme", "value": "dark"}],
    }
    assert page["metrics"].params == {"width": 0, "height": 0, "deviceScaleFactor": 2, "mobile": False}
    assert commands(made, "iframe").keys() == page.keys() - {"metrics"}
    assert commands(made, "worker").keys() == {"user_agent"}
    assert commands(made, EVALUATION_SESSION).keys() == {"user_agent", "media"}
    assert commands(settings(geolocation="unavailable"), "page")["geolocation"] == Command(
        "Emulation.setGeolocationOverride"
    )
    assert page.keys() <= UNDO.keys()
