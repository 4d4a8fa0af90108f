"""What betrays secrets: words, names of parameters, the protocol's own fields; and how they are looked for. Pure.

Rule: words decide where to look; whether a value is a secret is decided by `secret_text.py` and its like. An
automaton for all words at once (Aho and Corasick's, which finds words this short with vector instructions, some
gigabytes a second) says where one may be; a regular expression then looks at that place only. Python's own regular
expressions try an alternative of words at every letter that one of them begins with, which in a text are most of
them: they take some twenty-five times as long.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from ahocorasick_rs import BytesAhoCorasick, MatchKind

from cdpengine.debug.recording.entered_texts import types_text
from cdpengine.errors.texts import NAMED, QUERY_KEYS, SENSITIVE_WORDS

_BEGINS = r"(?:(?<![\w.\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-f]{4}))"
"""Before a word that is no end of a longer one: no letter, unless it is one of JSON's escapes."""


class Search:
    """Looks for words, each followed by what its regular expression says ("": anything).

    `whole` are words that must not be the end of a longer one. `common` says, of words that are in most texts, by
    which letters what follows them can begin: the others are not looked at. Letters are compared as they are: for
    a search blind to case, give words and texts in lower case. Bytes are UTF-8.
    """

    def __init__(
        self,
        words: Mapping[str, str],
        whole: Mapping[str, str] | None = None,
        common: Mapping[str, str] | None = None,
    ) -> None:
        listed = [(word, "", after) for word, after in words.items()]
        listed += [(word, _BEGINS, after) for word, after in (whole or {}).items()]
        self._anywhere = not any(before or after for _, before, after in listed)
        # What follows is looked at first: it is there more rarely than what stands before.
        patterns = [
            f"(?={re.escape(word)}{after}){before}{re.escape(word)}{after}" for word, before, after in listed
        ]
        self._text = [re.compile(pattern) for pattern in patterns]
        self._bytes = [re.compile(_utf8(pattern)) for pattern in patterns]
        found = [
            (number, _utf8(word + letter))
            for number, (word, _, _) in enumerate(listed)
            for letter in (common or {}).get(word, ("",))
        ]
        self._found = [(number, _find_within(place, found)) for place, (number, _) in enumerate(found)]
        self._automaton = BytesAhoCorasick(
            [spelled for _, spelled in found], matchkind=MatchKind.LeftmostLongest
        )

    def is_in(self, text: str | bytes) -> bool:
        """Say whether one of the words is there."""
        if isinstance(text, str):
            return any(True for _ in self.ends(text))
        if self._anywhere:
            return bool(self._automaton.find_matches_as_indexes(text))
        return any(self._bytes[word].match(text, start) for word, start in self._places(text))

    def parts(self, text: bytes, ends: Sequence[int]) -> Iterator[int]:
        """Give the numbers of the parts of a text in which a word is; `ends` says where each part ends.

        What ends a part must be in no word, and in nothing that may follow one.
        """
        done = 0
        for word, start in self._places(text):
            if start >= done and self._bytes[word].match(text, start):
                part = bisect_right(ends, start)
                yield part
                done = ends[part]

    def ends(self, text: str) -> Iterator[int]:
        """Give where each of the words ends, what has to follow it included; in no order."""
        data = _utf8(text)
        seen, letters = 0, 0
        for word, start in sorted(self._places(data), key=itemgetter(1)):
            letters += start - seen if len(data) == len(text) else _letters(data[seen:start])
            seen = start
            if match := self._text[word].match(text, letters):
                yield match.end()

    def _places(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Give each word that is there, by its number, and where it begins; whatever stands around it."""
        for place, start, _ in self._automaton.find_matches_as_indexes(data):
            word, within = self._found[place]
            yield word, start
            # The automaton goes on behind what it has found: those that begin within it are looked for here.
            for other, spelled, offset in within:
                if data.startswith(spelled, start + offset):
                    yield other, start + offset


def _find_within(place: int, found: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes, int]]:
    """Return what else may begin within what is found, and at which of its bytes."""
    _, word = found[place]
    return [
        (number, other, offset)
        for offset in range(len(word))
        for at, (number, other) in enumerate(found)
        if (offset or at != place) and (other.startswith(word[offset:]) or word.startswith(other, offset))
    ]


def _letters(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


BETWEEN = b"\0"
"""What stands between texts that are looked through together: it is in no JSON, and no pattern goes beyond it."""


# --- the words -----------------------------------------------------------------------------------------------

COMMON_KEYS = frozenset({"key", "code", "session", "state", "ticket"})
"""Of these, the ones that name other things in programs and data, as in {"key": "Enter"}."""

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
    "Input.dispatchDragEvent": ("data",),
    "Input.dragIntercepted": ("data",),
    "Page.handleJavaScriptDialog": ("promptText",),
    "Page.javascriptDialogClosed": ("userInput",),
    "Network.setCookie": ("value",),
    "Network.requestWillBeSent": ("postData", "postDataEntries"),
    "Fetch.requestPaused": ("postData", "postDataEntries"),
    "Fetch.continueRequest": ("postData",),
    "Fetch.continueWithAuth": ("password", "username"),
    "Network.getRequestPostData": ("postData",),
    "DOMStorage.setDOMStorageItem": ("value",),
    "DOMStorage.domStorageItemAdded": ("newValue",),
    "DOMStorage.domStorageItemUpdated": ("oldValue", "newValue"),
    "Storage.setSharedStorageEntry": ("value",),
    "Storage.getSharedStorageEntries": ("value",),
    "WebAuthn.addCredential": ("privateKey", "userHandle"),
    "WebAuthn.credentialAdded": ("privateKey", "userHandle"),
    "WebAuthn.credentialAsserted": ("privateKey", "userHandle"),
    "WebAuthn.getCredential": ("privateKey", "userHandle"),
    "WebAuthn.getCredentials": ("privateKey", "userHandle"),
    "IndexedDB.requestData": ("objectStoreDataEntries",),
    "Autofill.trigger": ("card", "address"),
    "Autofill.setAddresses": ("addresses",),
    "Autofill.addressFormFilled": ("value",),
}  # fmt: skip
"""Of these methods (of their replies too), the fields that are secret wherever they stand in the message."""

OPEN_FIELDS = frozenset({
    "value", "data", "args", "values", "auxData", "executionContextAuxData", "hints", "shape", "marginShape",
    "auxAttributes", "featureStatus", "commandLog", "highlight", "headers", "requestHeaders", "responseHeaders",
    "attributes",
})  # fmt: skip
"""Objects whose fields the protocol does not name: a page may have named them, and the name may hold a secret.

All other fields have names of the protocol's own. A secret that is such a word by chance ("value") leaves them.
"""

OPEN_LISTS = frozenset({"value", "data"})
"""Of these, the ones that may be lists of such objects."""

VALUE_FIELDS = frozenset({"type", "value"})
"""The protocol's own fields of a value, which may stand right in such an object."""

ENTERED = frozenset({
    "Input.insertText", "Input.imeSetComposition", "Page.handleJavaScriptDialog", "Network.setCookie",
    "Network.setCookies", "Storage.setCookies", "Fetch.continueWithAuth", "DOMStorage.setDOMStorageItem",
    "Storage.setSharedStorageEntry", "Autofill.trigger",
})  # fmt: skip
"""Of these, the ones with which a program enters what is secret."""

FORGOTTEN = frozenset({"Input.dispatchKeyEvent", "Autofill.addressFormFilled", "IndexedDB.requestData"})
"""Of these, the ones whose fields are too short, or too common, to be looked for elsewhere."""

NAMED_KEYS = re.compile(
    r"Enter|Tab|Escape|Backspace|Delete|Insert|Home|End|Page(?:Up|Down)|Arrow(?:Up|Down|Left|Right)|F\d{1,2}|Shift|Control|"
    r"Alt|AltGraph|Meta|CapsLock|NumLock|ScrollLock|ContextMenu|PrintScreen|Pause|Dead|Process|Unidentified"
)
"""Keys that enter no letter (UI Events KeyboardEvent key Values): commands with these stay whole."""

WITHHELD: dict[str, tuple[str, ...]] = {
    "HeapProfiler.addHeapSnapshotChunk": ("chunk",),  # pieces of a page's memory
    "Fetch.fulfillRequest": ("binaryResponseHeaders",),
    "Fetch.continueResponse": ("binaryResponseHeaders",),
    "SmartCardEmulation.transmitRequested": ("data",),  # what is said to a card holds its PIN
    "SmartCardEmulation.controlRequested": ("data",),
    "SmartCardEmulation.setAttribRequested": ("data",),
    "SmartCardEmulation.reportDataResult": ("data",),
}
"""Fields that are withheld whole; they are too large or too varied to be looked for elsewhere."""

BASE64_FIELDS: dict[str, tuple[str, ...]] = {
    "Fetch.fulfillRequest": ("body",),
    "Fetch.getResponseBody": ("body",),
    "Network.getResponseBody": ("body",),
    "Network.getResponseBodyForInterception": ("body",),
    "Network.dataReceived": ("data",),
    "Network.directTCPSocketChunkReceived": ("data",),
    "Network.directTCPSocketChunkSent": ("data",),
    "Network.directUDPSocketChunkReceived": ("message",),
    "Network.directUDPSocketChunkSent": ("message",),
    "Network.streamResourceContent": ("bufferedData",),
    "Network.webSocketFrameSent": ("response",),
    "Network.webSocketFrameReceived": ("response",),
    "CacheStorage.requestCachedResponse": ("response",),
    "IO.read": ("data",),
    "Page.getResourceContent": ("content",),
    "Audits.getEncodedResponse": ("body",),
    "BluetoothEmulation.characteristicOperationReceived": ("data",),
    "BluetoothEmulation.descriptorOperationReceived": ("data",),
    "BluetoothEmulation.simulateCharacteristicOperationResponse": ("data",),
    "BluetoothEmulation.simulateDescriptorOperationResponse": ("data",),
    "Debugger.getWasmBytecode": ("bytecode",),
    "HeadlessExperimental.beginFrame": ("screenshotData",),
    "Page.addCompilationCache": ("data",),
    "Page.compilationCacheProduced": ("data",),
    "Page.getAnnotatedPageContent": ("content",),
    "Page.getManifestIcons": ("primaryIcon",),
    "Page.captureScreenshot": ("data",),
    "Page.printToPDF": ("data",),
    "Page.screencastFrame": ("data",),
}
"""Fields that may be base64: it is decoded and looked through. A message that says whether it is, is believed."""

TEXT_PIECES: dict[str, str] = {"Network.eventSourceMessageReceived": "data"}
"""Of what comes in pieces, the fields that are a text and no base64."""

AX_METHODS = re.compile(r"Accessibility\.")

HEADER_METHODS = frozenset({
    "Network.setExtraHTTPHeaders", "Fetch.continueRequest", "Fetch.fulfillRequest", "Fetch.continueResponse",
})  # fmt: skip
"""Commands with headers that a program made up itself."""

_STRUCTURED = frozenset({
    "DOMStorage.getDOMStorageItems", "DOM.attributeModified", "DOM.setAttributeValue", "Runtime.bindingCalled",
    "Page.captureSnapshot",
})  # fmt: skip

CALLS = frozenset({
    "Runtime.evaluate", "Runtime.callFunctionOn", "Runtime.awaitPromise", "Runtime.runScript",
    "Runtime.getProperties", "Debugger.evaluateOnCallFrame", "Debugger.setVariableValue",
    "Debugger.setReturnValue",
})  # fmt: skip
"""Commands that give values to scripts, or return values of theirs."""

_PLAIN_HEADERS = re.compile(
    r"accept(-.*)?|user-agent|content-(?!disposition).*|cache-control|pragma|referer|origin|host|connection|date|expires|etag|vary|"
    r"last-modified|age|via|allow|range|if-.*|upgrade.*|sec-.*|dnt|te|trailer|server|access-control-.*|x-frame-options|"
    r"strict-transport-security|location|link|x-requested-with",
    re.IGNORECASE,
)

HEADER_TEXTS = frozenset({"headersText", "requestHeadersText"})
"""Fields with headers as they were sent, one a line."""

_COOKIE_METHODS = re.compile(r"(Network|Storage)\.(get|set|delete)(All)?Cookies?$")

SCHEMES = Search(dict.fromkeys(("bearer", "basic", "digest", "negotiate"), ""))
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
_IN_MARKUP = r"""(?:\\*["'\s>&/]|\\u00)"""  # name="csrf_token", type=password>
_IN_NAMES_OR_TEXTS = rf"(?:{_REST}(?:{_ASSIGNED}|{_IN_MARKUP})|{_NAME_ENDS})"
_WORDS = (
    dict.fromkeys(SENSITIVE_WORDS, _IN_NAMES_OR_TEXTS)
    | {"basic": _SPACE, "digest": _SPACE, "negotiate": _SPACE, "eyj": ""}
    | {"bearer": rf"(?:{_SPACE}|{_IN_NAMES_OR_TEXTS})"}
    | dict.fromkeys(("cc-number", "cc-csc", "cc-exp", "one-time-code", "text-security"), "")
)
_KEYS = {
    key: r"""(?:\\+["']|')?\s*(?:=|:|%3d)""" if key in COMMON_KEYS else rf"(?:{_ASSIGNED}|{_NAME_ENDS})"
    for key in QUERY_KEYS
}
_COMMON = {"session": "\\'=:% \t\n\r\v\f"}  # most messages have a "sessionId"
IN_JSON = Search(_WORDS, _KEYS, _COMMON)
IN_COOKIES = Search(
    _WORDS | {"cookie": rf'(?!s":\[){_IN_NAMES_OR_TEXTS}', '"value"': '(?!:"")'}, _KEYS, _COMMON
)
"""For lists of cookies whose values were taken out: a value that is still found stood in an unexpected place."""


@lru_cache(2_000)
def holds_secrets(method: str) -> bool:
    """Say whether messages of this method may hold secrets by their place, whatever these look like."""
    tables = SECRET_PARAMETERS, WITHHELD, BASE64_FIELDS, TEXT_PIECES
    by_table = any(method in table for table in tables)
    by_structure = method in HEADER_METHODS or method in _STRUCTURED or method in CALLS or types_text(method)
    return by_table or by_structure or is_of_cookies(method) or AX_METHODS.match(method) is not None


@lru_cache(2_000)
def is_of_cookies(method: str) -> bool:
    """Say whether messages of this method hold cookies."""
    return _COOKIE_METHODS.match(method) is not None


@lru_cache(2_000)
def is_secret_header(name: str) -> bool:
    """Say whether the value of a header that a program made up may be secret: it is none of the common ones."""
    return is_secret_name(name) or not _PLAIN_HEADERS.fullmatch(name)


@lru_cache(2_000)
def is_secret_name(name: str) -> bool:
    """Say whether a parameter, a header or a field of that name holds a secret, wherever it stands."""
    return NAMED.search(name) is not None or (name.lower() in QUERY_KEYS and name.lower() not in COMMON_KEYS)


@lru_cache(2_000)
def is_secret_field(name: str) -> bool:
    """Say whether a text in a field of that name of a protocol's message is secret."""
    return name in SECRET_TEXTS or (name not in HARMLESS_NAMES and is_secret_name(name))
