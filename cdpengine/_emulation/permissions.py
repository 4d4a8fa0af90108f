"""Permissions of a context's pages, in layers.

Rule: a context's permissions are the permissions of its layers; the latest layer wins. Chrome prefers settings for
one origin to settings for all origins. Chrome can only reset all overrides of a context together. So when a layer
ends, all overrides are reset, and the remaining layers are set again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, Literal

import attrs

from cdpengine._budget import undoing
from cdpengine._checks import check_choice, invalid
from cdpengine._protocol.session import Session
from cdpengine._urls.origins import check_origin
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, RemoteError

PermissionState = Literal["granted", "denied", "prompt"]

_CLOSE_TIMEOUT = 2.0
"""Maximum duration of the undoing, in seconds."""

_DESCRIPTORS: dict[str, dict[str, object]] = {
    "clipboard-write": {"name": "clipboard-write", "allowWithoutSanitization": False},
    "fullscreen": {"name": "fullscreen", "allowWithoutGesture": True},
    "midi-sysex": {"name": "midi", "sysex": True},
    "pan-tilt-zoom": {"name": "camera", "panTiltZoom": True},
    "push": {"name": "push", "userVisibleOnly": True},
}
"""Descriptors of permissions that need more than a name."""

NAMES = (
    "accelerometer",
    "ambient-light-sensor",
    "background-fetch",
    "background-sync",
    "camera",
    "captured-surface-control",
    "clipboard-read",
    "clipboard-write",
    "display-capture",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "idle-detection",
    "keyboard-lock",
    "local-fonts",
    "local-network-access",
    "magnetometer",
    "microphone",
    "midi",
    "midi-sysex",
    "nfc",
    "notifications",
    "pan-tilt-zoom",
    "payment-handler",
    "periodic-background-sync",
    "persistent-storage",
    "pointer-lock",
    "push",
    "screen-wake-lock",
    "speaker-selection",
    "storage-access",
    "system-wake-lock",
    "top-level-storage-access",
    "window-management",
)
"""Names of `navigator.permissions.query`; "midi-sysex" and "pan-tilt-zoom" are the engine's."""


@attrs.define(eq=False)
class PermissionLayer:
    """States by name, for one origin or (None) for all."""

    context_id: str | None
    origin: str | None
    states: Mapping[str, PermissionState]


def check_permissions(states: object, origin: object, context_id: str | None) -> PermissionLayer:
    """Return a checked layer. Raises InvalidArgumentError, which suggests similar names."""
    if not isinstance(states, Mapping) or not states:
        given = "none" if isinstance(states, Mapping) else f"a {type(states).__name__}"
        raise InvalidArgumentError(what="permissions", given=given, expected="a mapping of names to states")
    for name, state in states.items():
        if name not in NAMES:
            near = get_close_matches(name, NAMES, 3) if isinstance(name, str) else []
            near = near or ["camera", "geolocation", "notifications"]
            raise invalid("permissions", name, f"the name of a permission, such as {', '.join(near)}")
        check_choice(f"permissions[{name!r}]", state, ("granted", "denied", "prompt"))
    where = None if origin is None else check_origin(origin)
    return PermissionLayer(context_id, where, dict(states))


class Permissions:
    """The permissions that the engine has set in one browser."""

    def __init__(self, root: Session) -> None:
        self._root = root
        self._layers: list[PermissionLayer] = []

    async def begin(self, layer: PermissionLayer) -> None:
        """Apply a layer. Call `end` afterwards, even if this raises.

        Raises InvalidArgumentError for permissions that this Chrome does not know.
        """
        self._layers.append(layer)
        await self._send(layer)

    async def keep(self, layer: PermissionLayer) -> None:
        """Apply a layer from now on.

        Raises the errors of `begin`; after an error or cancellation, it has no effect.
        """
        try:
            await self.begin(layer)
        except BaseException:
            await self.end(layer)
            raise

    async def reset(self, context_id: str | None) -> None:
        """Remove all permissions that were set for a context."""
        self._layers = [layer for layer in self._layers if layer.context_id != context_id]
        await self._root.call("Browser.resetPermissions", **_where(context_id))

    def forget(self, context_id: str | None) -> None:
        """Forget a context that was disposed of."""
        self._layers = [layer for layer in self._layers if layer.context_id != context_id]

    async def _send(self, layer: PermissionLayer) -> None:
        calls = [
            (name, self._root.post("Browser.setPermission", **_params(layer, name, state)))
            for name, state in layer.states.items()
        ]
        for name, call in calls:
            try:
                await call.raw()
            except RemoteError as error:
                if "PermissionDescriptor" not in error.message and "ermission" not in error.message:
                    raise
                expected = f"a permission of this Chrome (it answered {error.message!r})"
                raise invalid("permissions", name, expected) from None

    async def end(self, layer: PermissionLayer) -> None:
        """End a layer. Ignores a layer that never began. Shielded and bounded."""
        if layer not in self._layers:
            return  # `reset` removed it meanwhile
        self._layers.remove(layer)
        with undoing(_CLOSE_TIMEOUT), suppress(ConnectionLostError, RemoteError):
            calls = [self._root.post("Browser.resetPermissions", **_where(layer.context_id))]
            calls += [
                self._root.post("Browser.setPermission", **_params(left, name, state))
                for left in self._layers
                if left.context_id == layer.context_id
                for name, state in left.states.items()
            ]
            for call in calls:
                await call.raw()


def _params(layer: PermissionLayer, name: str, state: PermissionState) -> dict[str, Any]:
    params: dict[str, Any] = {
        "permission": _DESCRIPTORS.get(name, {"name": name}),
        "setting": state,
        **_where(layer.context_id),
    }
    if layer.origin is not None:
        params["origin"] = layer.origin
    return params


def _where(context_id: str | None) -> dict[str, str]:
    return {} if context_id is None else {"browserContextId": context_id}
