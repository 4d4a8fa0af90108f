"""Devices, user agents and locations, for a page or a context."""

from cdpengine._api.scopes.emulation import ContextEmulation, PageEmulation
from cdpengine._emulation.devices import Device, UserAgent
from cdpengine._emulation.options import Geolocation

__all__ = [
    "ContextEmulation",
    "Device",
    "Geolocation",
    "PageEmulation",
    "UserAgent",
]
