"""Emulation options and proxies, checked and converted to plain settings. Pure.

Rule: invalid values are refused before anything is sent. None means no emulation; an omitted option keeps its
value. Chrome accepts any string as a proxy, and then reaches no server, so strings that cannot be a proxy are
refused too.
"""

from __future__ import annotations

import functools
import re
import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, get_args
from urllib.parse import urlsplit

import attrs

from cdpengine._checks import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_string,
    check_type,
    invalid,
    wrong_type,
)
from cdpengine._emulation.devices import Device, UserAgent, check_user_agent, find_device
from cdpengine.errors import InvalidArgumentError, shown_url

ColorScheme = Literal["light", "dark", "no-preference"]
ReducedMotion = Literal["reduce", "no-preference"]
ForcedColors = Literal["active", "none"]
Contrast = Literal["more", "less", "custom", "no-preference"]
Media = Literal["screen", "print"]


DefaultViewport = Literal["default"]
"""The viewport that was passed to `launch` or `connect`."""

DEFAULT_VIEWPORT = (1280, 720)
"""Default viewport of pages that this program opens, in CSS pixels."""


@attrs.frozen
class Geolocation:
    """The device's position: `latitude` and `longitude` in degrees, `accuracy` in metres."""

    latitude: float
    longitude: float
    accuracy: float = 1.0
    altitude: float | None = None


class EmulationOptions(TypedDict, total=False):
    """The options of `emulate`. None: no emulation; omitted: unchanged.

    A `viewport` of None means the size of the window, "default" the viewport passed to `launch` or `connect`.
    `device` is a name of `cdpengine.DEVICES`. It sets the six settings below it, each of which can also be passed
    to override it. Sizes are CSS pixels.
    """

    device: str | Device | None
    landscape: bool
    viewport: tuple[int, int] | DefaultViewport | None
    screen: tuple[int, int] | None
    device_scale_factor: float | None
    mobile: bool | None
    touch: bool | None
    user_agent: str | UserAgent | None
    locale: str | None
    timezone: str | None
    geolocation: Geolocation | tuple[float, float] | Literal["unavailable"] | None
    color_scheme: ColorScheme | None
    reduced_motion: ReducedMotion | None
    forced_colors: ForcedColors | None
    contrast: Contrast | None
    media: Media | None


OF_A_DEVICE = ("viewport", "screen", "device_scale_factor", "mobile", "touch", "user_agent")

Settings = Mapping[str, Any]
"""Checked settings by name; a device is replaced by its settings."""


def check_options(
    options: Mapping[str, Any], chrome_version: str, *, call: str = "emulate", others: Sequence[str] = ()
) -> dict[str, Any]:
    """Return checked settings. Raises InvalidArgumentError for an unknown name or an invalid value.

    The error of an unknown name is about `call`, and also lists `others`, the other options of the call.
    """
    if not options:
        raise InvalidArgumentError(
            what="emulate", given="nothing", expected=f"options among {', '.join(_NAMES)}"
        )
    for name in options:
        check_choice(call, name, _NAMES, f"options among {', '.join((*others, *_NAMES))}")
    settings: dict[str, Any] = {}
    landscape = options.get("landscape", False)
    if not isinstance(landscape, bool) or (landscape and options.get("device") is None):
        raise invalid("landscape", landscape, "True, with a device")
    if "device" in options:
        device = options["device"]
        if device is None:
            settings.update(dict.fromkeys(OF_A_DEVICE), viewport="default")
        else:
            settings.update(_of_device(find_device(device), landscape, chrome_version))
    for name, value in options.items():
        if name not in ("device", "landscape"):
            settings[name] = None if value is None else _CHECKS[name](name, value)
    return settings


def check_viewport(viewport: object) -> tuple[int, int] | None:
    """Return a checked viewport; None means the size of the window. Raises InvalidArgumentError."""
    return None if viewport is None else _size("viewport", viewport)


def parse_viewport(text: str) -> tuple[int, int] | None:
    """Return the viewport of a string such as "1280x720" or "none". Raises InvalidArgumentError."""
    words = text.strip().lower()
    if words == "none":
        return None
    width, _, height = words.partition("x")
    if not (width + height).isascii() or not width.isdigit() or not height.isdigit():
        expected = "WIDTHxHEIGHT in CSS pixels, such as 1280x720, or none for the window's own size"
        raise invalid("viewport", text, expected)
    return check_viewport((int(width[:9]), int(height[:9])))


def _of_device(device: Device, landscape: bool, chrome_version: str) -> dict[str, Any]:
    size = (device.height, device.width) if landscape else (device.width, device.height)
    return {
        "viewport": (size[0], size[1] - device.bars),
        "screen": size,
        "device_scale_factor": float(device.scale),
        "mobile": device.mobile,
        "touch": device.mobile,
        "user_agent": device.user_agent(chrome_version),
    }


def _size(name: str, value: object) -> tuple[int, int]:
    expected = "(width, height), whole CSS pixels from 1 on"
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise invalid(name, value, expected)
    width, height = (check_count(name, side, least=1, most=10_000_000, expected=expected) for side in value)
    return width, height


def _viewport(name: str, value: object) -> tuple[int, int] | DefaultViewport:
    return "default" if value == "default" else _size(name, value)


def _scale(name: str, value: object) -> float:
    return check_number(name, value, above=0, most=20)


_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,6}")


def _locale(name: str, value: object) -> str:
    if not isinstance(value, str) or not _LOCALE.fullmatch(value):
        raise invalid(name, value, 'a language tag, such as "de-DE"')
    return value.replace("_", "-")


@functools.cache
def _timezones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def _timezone(name: str, value: object) -> str:
    known = _timezones()
    shaped = isinstance(value, str) and re.fullmatch(
        r"[A-Za-z][A-Za-z0-9_+\-]*(?:/[A-Za-z0-9_+\-]+){0,2}", value
    )
    # If the system has no list of time zones, Chrome decides.
    if not shaped or (known and value not in known):
        raise invalid(name, value, 'an IANA time zone, such as "Europe/Berlin"')
    return str(value)


def _geolocation(name: str, value: object) -> Geolocation | str:
    if value == "unavailable":
        return "unavailable"
    place = Geolocation(*value) if isinstance(value, tuple) and len(value) == 2 else value
    if not isinstance(place, Geolocation):
        raise invalid(name, value, '(latitude, longitude), a Geolocation or "unavailable"')
    check_number(f"{name}.latitude", place.latitude, least=-90, most=90)
    check_number(f"{name}.longitude", place.longitude, least=-180, most=180)
    check_number(f"{name}.accuracy", place.accuracy, least=0)
    if place.altitude is not None:
        check_number(f"{name}.altitude", place.altitude)
    return place


def _one_of(kind: Any) -> Callable[[str, object], str]:
    return functools.partial(check_choice, choices=get_args(kind))


def _user_agent(_name: str, value: object) -> UserAgent:
    return check_user_agent(value)


_CHECKS: dict[str, Callable[[str, object], Any]] = {
    "viewport": _viewport,
    "screen": _size,
    "device_scale_factor": _scale,
    "mobile": check_flag,
    "touch": check_flag,
    "user_agent": _user_agent,
    "locale": _locale,
    "timezone": _timezone,
    "geolocation": _geolocation,
    "color_scheme": _one_of(ColorScheme),
    "reduced_motion": _one_of(ReducedMotion),
    "forced_colors": _one_of(ForcedColors),
    "contrast": _one_of(Contrast),
    "media": _one_of(Media),
}
_NAMES = ("device", "landscape", *_CHECKS)


# --- proxies -------------------------------------------------------------------------------------------------

_SCHEMES = ("http", "https", "socks4", "socks5")


@attrs.frozen
class Proxy:
    """A proxy: `server` is "http://host:port" ("https", "socks4", "socks5" likewise), or "direct://" for none.

    `bypass` are hosts that are reached without it ("*.example.com", "10.0.0.0/8", "localhost:3000"). Chrome never
    uses a proxy for this machine (localhost, 127.0.0.1), unless `bypass` has "<-loopback>". `username` and
    `password` are for a proxy that requires them.
    """

    server: str
    bypass: Sequence[str] = ()
    username: str | None = attrs.field(default=None, repr=False)
    password: str | None = attrs.field(default=None, repr=False)


def check_proxy(given: object) -> Proxy:
    """Return the proxy, passed as an object or as its server.

    Raises InvalidArgumentError; its message contains no password.
    """
    if not isinstance(given, str | Proxy):
        raise wrong_type("proxy", given, "a str or a Proxy")
    proxy = Proxy(given) if isinstance(given, str) else given
    check_string("proxy.server", proxy.server)
    if proxy.server != "direct://":
        _check_server(proxy.server)
    if isinstance(proxy.bypass, str) or not isinstance(proxy.bypass, Sequence):
        raise wrong_type("proxy.bypass", proxy.bypass, "a list of hosts")
    for host in proxy.bypass:
        if not isinstance(host, str) or not host or set(host) & set(" ,;\t\r\n") or not host.isascii():
            raise invalid("proxy.bypass", host, 'hosts such as "*.example.com", without spaces and commas')
    for name in ("username", "password"):
        check_type(f"proxy.{name}", getattr(proxy, name), str | None, "a str")
    if (proxy.username is None) != (proxy.password is None):
        given = "one without the other"
        raise InvalidArgumentError(what="proxy.username, .password", given=given, expected="both or neither")
    return proxy


def _check_server(server: str) -> None:
    whole = server if "://" in server else f"http://{server}"
    try:
        parts = urlsplit(whole)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if "@" in parts.netloc:
        raise InvalidArgumentError(
            what="proxy.server",
            given="a server with a user",
            expected="Proxy(server, username=..., password=...)",
        )
    odd = parts.path not in ("", "/") or parts.query or parts.fragment or set(server) & set(" ,;=\t\r\n")
    if parts.scheme not in _SCHEMES or not host or port == 0 or odd or not server.isascii():
        expected = f"scheme://host:port with one of {', '.join(_SCHEMES)}"
        raise InvalidArgumentError(what="proxy.server", given=repr(shown_url(server)[:80]), expected=expected)


def context_params(proxy: Proxy) -> dict[str, str]:
    """Return the parameters of `Target.createBrowserContext` for the proxy."""
    params = {"proxyServer": proxy.server.rstrip("/") if proxy.server != "direct://" else proxy.server}
    if proxy.bypass:
        # Chrome uses the last of several rules for a host, so named hosts precede "<-loopback>".
        rules = sorted(proxy.bypass, key=lambda rule: rule != "<-loopback>")
        params["proxyBypassList"] = ",".join(rules)
    return params
