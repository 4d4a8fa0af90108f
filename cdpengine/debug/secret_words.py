"""What betrays secrets: words, names of parameters, fields of the protocol's own; and how they are looked for.

Rule: data. Rather too much than too little: what is no secret and looks like one is redacted.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cdpengine.debug.search import Search
from cdpengine.errors.secrets import NAMED, QUERY_KEYS, SENSITIVE_WORDS

HARMLESS_NAMES = frozenset({
    "cookiePartitionKey", "hasCookies", "associatedCookies", "blockedCookies", "exemptedCookies", "cookies",
    "cookie", "tokens", "autofillToken", "siteHasCookieInOtherPartition", "credentials", "authChallengeResponse",
    "tokenType", "securityToken",
})  # fmt: skip
"""Names of the protocol's own that hold a structure: what is in it is looked at by itself."""

SECRET_TEXTS = frozenset({"cookie", "credentials", "securityToken"})
"""Of these, the ones that are secret where they are a text."""

SECRET_PARAMETERS: dict[str, tuple[str, ...]] = {
    "Input.insertText": ("text",),
    "Input.dispatchKeyEvent": ("text", "unmodifiedText", "key", "code", "keyIdentifier", "windowsVirtualKeyCode",
                               "nativeVirtualKeyCode"),
    "Input.imeSetComposition": ("text",),
    "Network.setCookie": ("value",),
    "Network.requestWillBeSent": ("postData", "postDataEntries"),
    "Fetch.requestPaused": ("postData", "postDataEntries"),
    "Fetch.continueRequest": ("postData",),
    "Fetch.continueWithAuth": ("password", "username"),
    "Network.getRequestPostData": ("postData",),
    "DOMStorage.setDOMStorageItem": ("value",),
    "DOMStorage.domStorageItemAdded": ("newValue",),
    "DOMStorage.domStorageItemUpdated": ("oldValue", "newValue"),
    "DOMStorage.getDOMStorageItems": ("entries",),
    "Storage.setSharedStorageEntry": ("value",),
    "Storage.getSharedStorageEntries": ("value",),
    "WebAuthn.addCredential": ("privateKey", "userHandle"),
    "IndexedDB.requestData": ("objectStoreDataEntries",),
}  # fmt: skip
"""Of these methods (of their replies too), the fields that are secret wherever they stand in the message."""

COOKIE_METHODS = re.compile(r"(Network|Storage)\.(get|set|delete)(All)?Cookies?$")

SCHEMES = ("bearer", "basic", "digest", "negotiate")
_ASSIGNED = r"""\\*["']?\s*(?:=|:|%3d)"""
IN_TEXT = Search(
    dict.fromkeys(SENSITIVE_WORDS, r"[\w.\-]*" + _ASSIGNED), dict.fromkeys(QUERY_KEYS, _ASSIGNED)
)
"""Ends where a value begins."""

# In JSON that is not decoded, a word may also be in a name ("a-token": ..., or {"name": "a-token", "value": ...});
# a common word that is a name by itself (not within a text, where its quotes are escaped) is the protocol's own.
_SPACE = r"(?:\s|\\)"
_NAME_ENDS = r"""(?:[^"\\\0]|\\[^\0]){0,200}"\s*[:,}\]]"""
_REST = r"(?:[\w.\-\x80-\xff]|\\u[0-9a-f]{4})*"
_IN_NAMES_OR_TEXTS = rf"(?:{_REST}{_ASSIGNED}|{_NAME_ENDS})"
_WORDS = (
    dict.fromkeys(SENSITIVE_WORDS, _IN_NAMES_OR_TEXTS)
    | {"basic": _SPACE, "digest": _SPACE, "negotiate": _SPACE, "eyj": ""}
    | {"bearer": rf"(?:{_SPACE}|{_IN_NAMES_OR_TEXTS})"}
)
_KEYS = dict.fromkeys(QUERY_KEYS, r"""(?:\\+["']|')?\s*(?:=|:|%3d)""")
_COMMON = {"session": "\\'=:% \t\n\r\v\f"}  # most messages have a "sessionId"
IN_JSON = Search(_WORDS, _KEYS, _COMMON)
IN_COOKIES = Search(
    _WORDS | {"cookie": rf'(?!s":\[){_IN_NAMES_OR_TEXTS}', '"value"': '(?!:"")'}, _KEYS, _COMMON
)
"""For lists of cookies without their values: one that is left is not where it is expected."""


@lru_cache(2_000)
def holds_secrets(method: str) -> bool:
    """Say whether messages of this method hold secrets by their place, whatever these look like."""
    return method in SECRET_PARAMETERS or COOKIE_METHODS.match(method) is not None


@lru_cache(2_000)
def is_secret_field(name: str) -> bool:
    """Say whether a text in a field of that name is secret."""
    return name in SECRET_TEXTS or (name not in HARMLESS_NAMES and NAMED.search(name) is not None)
