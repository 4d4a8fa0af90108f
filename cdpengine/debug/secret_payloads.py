"""Secrets in parameters and results whose structure says where they stand, by the protocol's methods. Pure.

Rule: a value goes from where its method puts it, whatever it looks like; what is left is then gone through as any
other message is.
"""

from __future__ import annotations

import quopri
from collections.abc import Callable
from typing import Any

import attrs

from cdpengine.debug.known_secrets import REDACTED, KnownSecrets
from cdpengine.debug.script_values import withhold_payload, withhold_texts
from cdpengine.debug.secret_bodies import BodyRedactor
from cdpengine.debug.secret_fields import hide_in_ax_nodes, hide_in_dom_snapshot
from cdpengine.debug.secret_words import (
    AX_METHODS,
    BASE64_FIELDS,
    HEADER_METHODS,
    STREAMS,
    WITHHELD,
    is_secret_header,
    is_secret_name,
)

Remember = Callable[[str], None]
"""Keeps a secret in mind, so that it goes from other messages too."""


@attrs.frozen(eq=False)
class PayloadRedactor:
    """Redacts parameters and results by their method; with `keep_arguments`, pages' calls of the program stay."""

    text: Callable[[str], str]
    known: KnownSecrets
    bodies: BodyRedactor
    keep_arguments: bool

    def redact(self, payload: dict[str, Any], method: str) -> dict[str, Any]:
        """Return parameters or a result without what is secret by the structure that the method gives them."""
        for field in WITHHELD.get(method, ()):
            if field in payload:
                payload = {**payload, field: withhold_texts(payload[field])}
        if method == "DOMSnapshot.captureSnapshot":
            payload = hide_in_dom_snapshot(payload, self._hide)
        elif AX_METHODS.match(method):
            payload = _without_ax_values(payload)
        elif method == "DOM.attributeModified" and payload.get("name") == "value":
            payload = {**payload, "value": withhold_texts(payload.get("value"))}
        elif method == "DOM.setAttributeValue" and _holds_value(payload.get("name")):
            payload = {**payload, "value": hide_all(payload.get("value"), self.known.add_entered)}
        elif method == "DOMStorage.getDOMStorageItems":
            payload = self._clean_entries(payload)
        elif method == "Runtime.bindingCalled" and not self.keep_arguments:
            payload = {**payload, "payload": withhold_payload(str(payload.get("payload", "")))}
        elif method == "Page.captureSnapshot":
            payload = {**payload, "data": self._clean_archive(payload.get("data"))}
        if method in HEADER_METHODS:
            payload = self._clean_headers(payload)
        return self.bodies.redact_fields(payload, BASE64_FIELDS.get(method, ()), stream=method in STREAMS)

    def _clean_entries(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return what a storage holds, (key, value) pairs, without the values."""
        entries = payload.get("entries")
        if not isinstance(entries, list):
            return payload
        pairs = [
            [*each[:1], *hide_all(each[1:], self.known.add_seen)] if isinstance(each, list) else each
            for each in entries
        ]
        return {**payload, "entries": pairs}

    def _clean_archive(self, data: Any) -> Any:
        """Return a page as MHTML, withheld whole where there are secrets in it."""
        if not isinstance(data, str):
            return data
        text = quopri.decodestring(data.encode("utf-8", "replace")).decode("utf-8", "replace")
        return data if self.text(text) == text else REDACTED

    def _clean_headers(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return parameters without the values of headers that the program made up itself."""

        def hidden(name: Any, value: Any) -> Any:
            secret = isinstance(name, str) and is_secret_header(name)
            return hide_all(value, self.known.add_entered) if secret else value

        clean = dict(payload)
        for name in ("headers", "responseHeaders"):
            held = clean.get(name)
            if isinstance(held, dict):
                clean[name] = {key: hidden(key, value) for key, value in held.items()}
            elif isinstance(held, list):
                clean[name] = [
                    {**each, "value": hidden(each.get("name"), each.get("value"))}
                    if isinstance(each, dict)
                    else each
                    for each in held
                ]
        return clean

    def _hide(self, text: str) -> str:
        self.known.add_seen(text)
        return REDACTED


def _holds_value(attribute: Any) -> bool:
    """Say whether an attribute of that name holds what a field holds, or a secret."""
    return isinstance(attribute, str) and (
        attribute.lower() in ("value", "content") or is_secret_name(attribute)
    )


def hide_all(value: Any, remember: Remember) -> Any:
    """Return a JSON value with everything in it replaced but its shape, and have its texts remembered."""
    if isinstance(value, str):
        if value and value != REDACTED:
            remember(value)
        return REDACTED if value else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return 0
    if isinstance(value, list):
        return [hide_all(item, remember) for item in value]
    return {key: hide_all(item, remember) for key, item in value.items()}


def _without_ax_values(payload: dict[str, Any]) -> dict[str, Any]:
    clean = dict(payload)
    for name in ("nodes", "node", "root"):
        held = clean.get(name)
        if isinstance(held, list):
            clean[name] = hide_in_ax_nodes(held, withhold_texts)
        elif isinstance(held, dict):
            clean[name] = hide_in_ax_nodes([held], withhold_texts)[0]
    return clean
