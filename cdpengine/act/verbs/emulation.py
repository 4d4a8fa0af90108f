"""The verb that emulates a device, a place, preferences and a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine.act.fields import field
from cdpengine.act.notations import CommandForm, Place, ToolForm
from cdpengine.act.requests import ActRequest
from cdpengine.errors import InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine._api.scopes.awaitable_scope import AwaitableScope
    from cdpengine._emulation.permissions import PermissionState
    from cdpengine.act.performing import Performance

ONLINE = "online"
"""The name of the network without limits."""

_PLAIN = (
    "device",
    "color_scheme",
    "reduced_motion",
    "forced_colors",
    "contrast",
    "media",
    "locale",
    "timezone",
    "user_agent",
)
"""Fields with the names and values of `context.emulation.set`."""


@attrs.frozen(kw_only=True)
class HttpCredentials:
    """A name and a password for HTTP authentication."""

    username: str = field("The name.")
    password: str = field("The password.", secret=True)
    origin: str | None = field("The only server that receives them; without, every server that asks.", None)


@attrs.frozen(kw_only=True)
class Emulate(ActRequest):
    """Emulate a device, a place, preferences or a network for all pages of the session, until reset."""

    kind = "emulate"
    needs_page = False
    tool = ToolForm(
        meaning="Emulate a device, place, preferences or network for all tabs. Reload a page for a new device.",
        fields=(
            "device",
            "colorScheme",
            "geolocation",
            "locale",
            "timezone",
            "grant",
            "network",
            "cpuRate",
            "reset",
        ),
        capability="emulation",
    )
    commands = (
        CommandForm(
            meaning="Emulate a device, a place, preferences or a network for the session's pages.",
            places=(Place("DEVICE", "device", needed=False),),
            example="emulate 'Pixel 9' --color-scheme dark --network 'slow 3g'",
            console=False,
        ),
    )

    reset: bool = field("First end all earlier emulation of the session.", False)
    device: str | None = field('A device such as "iPhone 16" or "Pixel 9".', None)
    landscape: bool = field("Rotate the device.", False)
    color_scheme: Literal["light", "dark", "no-preference"] | None = field("The preferred colours.", None)
    reduced_motion: Literal["reduce", "no-preference"] | None = field("Preference for less motion.", None)
    forced_colors: Literal["active", "none"] | None = field("Forced colours of the system.", None)
    contrast: Literal["more", "less", "custom", "no-preference"] | None = field("Preferred contrast.", None)
    media: Literal["screen", "print"] | None = field("The CSS media type.", None)
    locale: str | None = field('The language, such as "de-DE".', None)
    timezone: str | None = field('The time zone, such as "Europe/Berlin".', None)
    user_agent: str | None = field("The user agent string.", None)
    geolocation: tuple[float, ...] = field(
        'Latitude, longitude and optionally the accuracy in metres. Also grant "geolocation".', (), most=3
    )
    grant: tuple[str, ...] = field('Permissions to grant: "geolocation", "notifications", ...', (), most=50)
    deny: tuple[str, ...] = field("Permissions to deny.", (), most=50)
    network: str | None = field("offline, online, slow 3g, fast 3g, slow 4g or wifi.", None)
    cpu_rate: float | None = field(
        "How many times slower pages run; 1 is normal.", None, least=1, most=1_000_000
    )
    headers: dict[str, str] = field(
        "HTTP headers for every request to every server.", attrs.Factory(dict), most=100, secret=True
    )
    credentials: HttpCredentials | None = field("For servers that request a name and a password.", None)

    def check(self) -> None:
        """Raise InvalidArgumentError for a request that changes nothing, and for an incomplete position."""
        changes = (*self._options(), *self.grant, *self.deny, self.network, self.cpu_rate, self.credentials)
        if not (self.reset or self.headers or any(each is not None for each in changes)):
            expected = "a device, colorScheme, geolocation, network, ... or reset"
            raise InvalidArgumentError("emulate", "nothing to emulate", expected)
        if len(self.geolocation) == 1:
            raise InvalidArgumentError("emulate.geolocation", "1 number", "latitude and longitude")

    async def run(self, performance: Performance) -> None:
        lasting = performance.actor.lasting
        if self.reset:
            await lasting.end(lambda each: isinstance(each.request, Emulate))
        if options := self._options():
            scope = performance.context.emulation.set(**options, timeout=performance.left)
            await lasting.add(self.kind, self, scope)
        for name, scope in self._scopes(performance):
            await lasting.replace(name, self, scope)

    def _options(self) -> dict[str, Any]:
        """Return the arguments of `context.emulation.set`."""
        options = {name: value for name in _PLAIN if (value := getattr(self, name)) is not None}
        if self.landscape:
            options["landscape"] = True
        if self.geolocation:
            from cdpengine.emulation import Geolocation

            options["geolocation"] = Geolocation(*self.geolocation)
        return options

    def _scopes(self, performance: Performance) -> list[tuple[str, AwaitableScope[Any]]]:
        """Return the other settings with their names. Permissions have one setting each."""
        from cdpengine.network import NetworkConditions

        network, emulation = performance.context.network, performance.context.emulation
        left = performance.left
        states: dict[str, PermissionState] = dict.fromkeys(self.grant, "granted")
        states.update(dict.fromkeys(self.deny, "denied"))
        scopes: list[tuple[str, AwaitableScope[Any]]] = [
            (f"permission {name}", emulation.set_permissions({name: state}, timeout=left))
            for name, state in states.items()
        ]
        if self.network is not None:
            online = self.network.casefold() == ONLINE
            conditions = NetworkConditions() if online else self.network
            scopes.append(("the network", network.conditions(conditions, timeout=left)))
        if self.cpu_rate is not None:
            scopes.append(("the CPU", network.throttle_cpu(self.cpu_rate, timeout=left)))
        if self.headers:
            scopes.append(("the headers", network.extra_headers(self.headers, timeout=left)))
        if (given := self.credentials) is not None:
            scope = network.http_credentials(
                given.username, given.password, origin=given.origin, timeout=left
            )
            scopes.append(("the credentials", scope))
        return scopes
