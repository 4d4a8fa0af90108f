"""The protocol's commands for emulated settings, by group. Pure.

Rule: a group is one command, which several settings can share. It is sent as a whole, and one command undoes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from cdpengine._emulation.devices import UserAgent, metadata, navigator_platform
from cdpengine._emulation.options import Geolocation, Settings

PROCESS_WIDE = frozenset({"timezone", "locale"})
"""Groups that Chrome has once per process: the first session owns it, and its end resets it."""


@attrs.frozen
class Command:
    """One command of the protocol."""

    method: str
    params: dict[str, Any] = attrs.field(factory=dict)


EVALUATION_SESSION = "evaluation session"
"""The target type for the second session of a page or frame.

A new document gets the settings of each session, in the order of the sessions. In some groups the last session
wins, even without a setting, so these groups are sent to both sessions.
"""

UNDO = {
    "metrics": Command("Emulation.clearDeviceMetricsOverride"),
    "touch": Command("Emulation.setTouchEmulationEnabled", {"enabled": False}),
    "user_agent": Command("Emulation.setUserAgentOverride", {"userAgent": ""}),
    "locale": Command("Emulation.setLocaleOverride"),
    "timezone": Command("Emulation.setTimezoneOverride", {"timezoneId": ""}),
    "geolocation": Command("Emulation.clearGeolocationOverride"),
    "media": Command("Emulation.setEmulatedMedia", {"media": "", "features": []}),
}
"""The command that undoes each group, in the order of sending."""

SETTING_OF = {"metrics": "viewport"}
"""Names of groups in messages, if they differ."""

_FEATURES = {
    "color_scheme": "prefers-color-scheme",
    "reduced_motion": "prefers-reduced-motion",
    "forced_colors": "forced-colors",
    "contrast": "prefers-contrast",
}

_TOUCH_POINTS = 5


def commands(settings: Settings, target_type: str) -> dict[str, Command]:
    """Return the commands for a target of that type, by group."""
    made = {"user_agent": _user_agent(settings)}
    if target_type == EVALUATION_SESSION and settings.get("media") is not None:
        # Not the features: each session has its own, and forced colors set by two sessions would remain.
        made["media"] = Command("Emulation.setEmulatedMedia", {"media": settings["media"], "features": []})
    if target_type in ("page", "iframe"):
        made["touch"] = _touch(settings)
        made["locale"] = _set_named(settings, "locale", "Emulation.setLocaleOverride", "locale")
        made["timezone"] = _set_named(settings, "timezone", "Emulation.setTimezoneOverride", "timezoneId")
        made["geolocation"] = _geolocation(settings)
        made["media"] = _media(settings)
    if target_type == "page":
        made["metrics"] = _metrics(settings)
    return {group: command for group in UNDO if (command := made.get(group)) is not None}


def _metrics(settings: Settings) -> Command | None:
    viewport, screen = settings.get("viewport"), settings.get("screen")
    scale, mobile = settings.get("device_scale_factor"), settings.get("mobile")
    if viewport is None and screen is None and scale is None and mobile is None:
        return None
    width, height = viewport or (0, 0)  # 0: unchanged
    params: dict[str, Any] = {
        "width": width,
        "height": height,
        "deviceScaleFactor": scale or 0,
        "mobile": bool(mobile),
    }
    if screen is not None or viewport is not None:
        params["screenWidth"], params["screenHeight"] = screen or (width, height)
    if mobile and viewport is not None:
        upright = params["screenHeight"] >= params["screenWidth"]
        kind, angle = ("portraitPrimary", 0) if upright else ("landscapePrimary", 90)
        params["screenOrientation"] = {"type": kind, "angle": angle}
    return Command("Emulation.setDeviceMetricsOverride", params)


def _touch(settings: Settings) -> Command | None:
    if settings.get("touch") is None:
        return None
    params: dict[str, Any] = {"enabled": settings["touch"]}
    if settings["touch"]:
        params["maxTouchPoints"] = _TOUCH_POINTS
    return Command("Emulation.setTouchEmulationEnabled", params)


def _user_agent(settings: Settings) -> Command | None:
    agent: UserAgent | None = settings.get("user_agent")
    locale: str | None = settings.get("locale")
    if agent is None and locale is None:
        return None
    params: dict[str, Any] = {"userAgent": "" if agent is None else agent.text}  # "": unchanged
    if locale is not None:
        params["acceptLanguage"] = ",".join(dict.fromkeys([locale, locale.partition("-")[0]]))
    if agent is not None:
        if (platform := navigator_platform(agent)) is not None:
            params["platform"] = platform
        if (hints := metadata(agent)) is not None:
            params["userAgentMetadata"] = hints
    return Command("Emulation.setUserAgentOverride", params)


def change_headers(headers: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Return the headers of a request as Chrome sends them with these settings."""
    changed = dict(headers)
    agent: UserAgent | None = settings.get("user_agent")
    if agent is not None:
        changed = {name: value for name, value in changed.items() if not _is_hint(name)}
        changed["User-Agent"] = agent.text
        if (hints := metadata(agent)) is not None:
            brands = [f'"{each["brand"]}";v="{each["version"]}"' for each in hints["brands"]]
            changed["sec-ch-ua"] = ", ".join(brands)
            changed["sec-ch-ua-mobile"] = "?1" if hints["mobile"] else "?0"
            changed["sec-ch-ua-platform"] = f'"{hints["platform"]}"'
    if (locale := settings.get("locale")) is not None:
        changed["Accept-Language"] = accept_language(locale)
    return changed


def accept_language(locale: str) -> str:
    """Return the header that Chrome sends with a locale, such as "de-DE,de;q=0.9"."""
    language = locale.partition("-")[0]
    return locale if language == locale else f"{locale},{language};q=0.9"


def _is_hint(name: str) -> bool:
    return name.casefold().startswith("sec-ch-ua")


def _set_named(settings: Settings, name: str, method: str, parameter: str) -> Command | None:
    value = settings.get(name)
    return None if value is None else Command(method, {parameter: value})


def _geolocation(settings: Settings) -> Command | None:
    place: Geolocation | str | None = settings.get("geolocation")
    if place is None:
        return None
    params: dict[str, Any] = {}
    if isinstance(place, Geolocation):
        params = {
            "latitude": place.latitude,
            "longitude": place.longitude,
            "accuracy": place.accuracy,
        }
        if place.altitude is not None:
            params["altitude"] = place.altitude
    return Command("Emulation.setGeolocationOverride", params)


def _media(settings: Settings) -> Command | None:
    features = [
        {"name": feature, "value": settings[name]}
        for name, feature in _FEATURES.items()
        if settings.get(name) is not None
    ]
    media = settings.get("media")
    if not features and media is None:
        return None
    return Command("Emulation.setEmulatedMedia", {"media": media or "", "features": features})
