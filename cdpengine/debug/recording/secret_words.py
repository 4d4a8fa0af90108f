"""Protocol fields that contain secrets, and the search for the words of `cdpengine._secrets`. Pure.

Rule: words select positions; `secret_text.py` and similar modules decide whether a value is a secret. One
automaton searches all words together (Aho-Corasick; vector instructions find such short words at several gigabytes
a second). Regular expressions then check only these positions. A regular expression of all words is about 25 times
slower: it tries alternatives at every letter that begins a word.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter

from ahocorasick_rs import BytesAhoCorasick, MatchKind

from cdpengine._secrets import (
    ANYWHERE,
    AUTOCOMPLETE,
    COMMON_NAMES,
    SESSION_PARAMETERS,
    WHOLE_NAMES,
    is_secret_name,
    spellings,
)
from cdpengine.debug.recording.fingerprints import types_text

_BEGINS = r"(?:(?<![\w.\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-f]{4})|(?<=%(?:3f|26|23|3b)))"
"""Prefix of a word that is not the end of a longer one: no letter, except in an escape of JSON or of a URL."""


_LARGEST = 48
"""Maximum number of words that are searched in one pass. Above 64, the automaton uses no vector instructions."""


class Search:
    """Search for words, each followed by a match of its regular expression ("": anything).

    `whole` words must not be the end of a longer word. `common` lists the possible next letters after very
    frequent words; other occurrences are skipped. The search is case-sensitive: for a case-insensitive one, pass
    lower-case words and content. Bytes are UTF-8.
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
        # Check the following characters first, because they match more rarely than the preceding ones.
        patterns = [
            f"(?={re.escape(word)}{after}){before}{re.escape(word)}{after}" for word, before, after in listed
        ]
        self._text = [re.compile(pattern) for pattern in patterns]
        self._bytes = [re.compile(_utf8(pattern)) for pattern in patterns]
        found: dict[bytes, list[int]] = {}
        for number, (word, _, _) in enumerate(listed):
            for letter in (common or {}).get(word, ("",)):
                found.setdefault(_utf8(word + letter), []).append(number)
        parts = range(len(found) // _LARGEST + 1)
        self._automata = [_Automaton(dict(islice(found.items(), part, None, len(parts)))) for part in parts]

    def is_in(self, text: str | bytes) -> bool:
        """Return whether a word occurs."""
        if isinstance(text, str):
            return any(True for _ in self.ends(text))
        if self._anywhere:
            return any(each.find(text) for each in self._automata)
        return any(self._bytes[word].match(text, start) for word, start in self._places(text))

    def parts(self, text: bytes, ends: Sequence[int]) -> Iterator[int]:
        """Yield the numbers of the parts that contain a word. `ends` has the end of each part.

        The separator between parts must not occur in a word or in a match after it.
        """
        done = 0
        for word, start in sorted(self._places(text), key=itemgetter(1)):
            if start >= done and self._bytes[word].match(text, start):
                part = bisect_right(ends, start)
                yield part
                done = ends[part]

    def ends(self, text: str) -> Iterator[int]:
        """Yield the end of each match, including the part after the word. Unordered."""
        data = _utf8(text)
        position, letters = 0, 0
        for word, start in sorted(self._places(data), key=itemgetter(1)):
            letters += start - position if len(data) == len(text) else _letters(data[position:start])
            position = start
            if match := self._text[word].match(text, letters):
                yield match.end()

    def _places(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield the number and the start of each occurring word, regardless of its surroundings."""
        for automaton in self._automata:
            for place, start, _ in automaton.find(data):
                words, within = automaton.words[place]
                for word in words:
                    yield word, start
                # The automaton continues after its match. Words that begin within the match are searched here.
                for other, spelled, offset in within:
                    if data.startswith(spelled, start + offset):
                        yield other, start + offset


class _Automaton:
    """One pass over the content. `words` has the words of each match, and those that may begin within it."""

    def __init__(self, found: Mapping[bytes, Sequence[int]]) -> None:
        self.words = [(numbers, _find_within(spelled, found)) for spelled, numbers in found.items()]
        self.find = BytesAhoCorasick(list(found), matchkind=MatchKind.LeftmostLongest).find_matches_as_indexes


def _find_within(word: bytes, found: Mapping[bytes, Sequence[int]]) -> list[tuple[int, bytes, int]]:
    """Return the words that may begin within a found word, and their offsets in bytes."""
    return [
        (number, other, offset)
        for offset in range(len(word))
        for other, numbers in found.items()
        if (offset or other != word) and (other.startswith(word[offset:]) or word.startswith(other, offset))
        for number in numbers
    ]


def _letters(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


BETWEEN = b"\0"
"""Separator between strings that are searched together. It occurs in no JSON and in no pattern."""


# --- fields of the protocol ----------------------------------------------------------------------------------

HARMLESS_NAMES = frozenset({
    "cookiePartitionKey", "hasCookies", "associatedCookies", "blockedCookies", "exemptedCookies", "cookies",
    "cookie", "tokens", "autofillToken", "siteHasCookieInOtherPartition", "credentials", "authChallengeResponse",
    "tokenType", "securityToken",
})  # fmt: skip
"""Protocol names whose value is a structure. Its fields are checked separately."""

SECRET_TEXTS = frozenset({"cookie", "credentials", "securityToken"})
"""Names in HARMLESS_NAMES that are secret if their value is a string."""

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
"""Secret fields by method (also of its reply), at any depth of the message."""

OPEN_FIELDS = frozenset({
    "value", "data", "args", "values", "auxData", "executionContextAuxData", "hints", "shape", "marginShape",
    "auxAttributes", "featureStatus", "commandLog", "highlight", "headers", "requestHeaders", "responseHeaders",
    "attributes",
})  # fmt: skip
"""Objects whose field names a page may have chosen, so that a name may be a secret.

All other field names belong to the protocol. They stay even if they equal a known secret by chance ("value").
"""

OPEN_LISTS = frozenset({"value", "data"})
"""Fields in OPEN_FIELDS that may be lists of such objects."""

VALUE_FIELDS = frozenset({"type", "value"})
"""Protocol fields of a value that may be directly in such an object."""

ENTERED = frozenset({
    "Input.insertText", "Input.imeSetComposition", "Page.handleJavaScriptDialog", "Network.setCookie",
    "Network.setCookies", "Storage.setCookies", "Fetch.continueWithAuth", "DOMStorage.setDOMStorageItem",
    "Storage.setSharedStorageEntry", "Autofill.trigger",
})  # fmt: skip
"""Methods in SECRET_PARAMETERS by which a program enters secrets."""

FORGOTTEN = frozenset({"Input.dispatchKeyEvent", "Autofill.addressFormFilled", "IndexedDB.requestData"})
"""Methods whose secret fields are too short or too common to be searched elsewhere."""

NAMED_KEYS = re.compile(
    r"Enter|Tab|Escape|Backspace|Delete|Insert|Home|End|Page(?:Up|Down)|Arrow(?:Up|Down|Left|Right)|F\d{1,2}|Shift|Control|"
    r"Alt|AltGraph|Meta|CapsLock|NumLock|ScrollLock|ContextMenu|PrintScreen|Pause|Dead|Process|Unidentified"
)
"""Keys without a letter (UI Events KeyboardEvent key Values). Their commands are not redacted."""

WITHHELD: dict[str, tuple[str, ...]] = {
    "HeapProfiler.addHeapSnapshotChunk": ("chunk",),  # parts of a page's memory
    "Fetch.fulfillRequest": ("binaryResponseHeaders",),
    "Fetch.continueResponse": ("binaryResponseHeaders",),
    "SmartCardEmulation.transmitRequested": ("data",),  # commands to a card include its PIN
    "SmartCardEmulation.controlRequested": ("data",),
    "SmartCardEmulation.setAttribRequested": ("data",),
    "SmartCardEmulation.reportDataResult": ("data",),
}
"""Fields withheld as a whole. They are too large or too varied to be searched elsewhere."""

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
"""Fields that may be base64, which is decoded and searched. A message's own base64 flag decides, if present."""

TEXT_PIECES: dict[str, str] = {"Network.eventSourceMessageReceived": "data"}
"""Fields of stream pieces that are plain strings instead of base64."""

AX_METHODS = re.compile(r"Accessibility\.")

HEADER_METHODS = frozenset({
    "Network.setExtraHTTPHeaders", "Fetch.continueRequest", "Fetch.fulfillRequest", "Fetch.continueResponse",
})  # fmt: skip
"""Commands with headers that a program defined."""

_STRUCTURED = frozenset({
    "DOMStorage.getDOMStorageItems", "DOM.attributeModified", "DOM.setAttributeValue", "Runtime.bindingCalled",
    "Page.captureSnapshot", "DOMSnapshot.captureSnapshot", "DOM.getDocument", "DOM.getFlattenedDocument",
    "DOM.describeNode", "DOM.getOuterHTML", "DOM.setChildNodes", "DOM.childNodeInserted",
})  # fmt: skip

CALLS = frozenset({
    "Runtime.evaluate", "Runtime.callFunctionOn", "Runtime.awaitPromise", "Runtime.runScript",
    "Runtime.getProperties", "Debugger.evaluateOnCallFrame", "Debugger.setVariableValue",
    "Debugger.setReturnValue",
})  # fmt: skip
"""Commands that pass values to scripts or return values from them."""

HEADER_TEXTS = frozenset({"headersText", "requestHeadersText"})
"""Fields with headers as sent, one a line."""

_COOKIE_METHODS = re.compile(r"(Network|Storage)\.(get|set|delete)(All)?Cookies?$")

# --- the words -----------------------------------------------------------------------------------------------

SCHEMES = Search(dict.fromkeys(("bearer", "basic", "digest", "negotiate"), ""))
_ASSIGNED = r"""\\*["']?\s*(?:=|:|%3d)"""


def _parts(rest: str) -> dict[str, str]:
    """Return the spellings of the words that occur anywhere in a name, and the expression after each."""
    return {
        spelling: rest if word.endswith("*") else f"(?![a-z]){rest}"
        for word in ANYWHERE
        for spelling in spellings(word)
    }


_SESSIONS = {
    each.removesuffix("*"): "[a-z]*(?:=|%3d)" if each.endswith("*") else "(?:=|%3d)"
    for each in SESSION_PARAMETERS
    if not is_secret_name(each) and not any(each != end and each.endswith(end) for end in SESSION_PARAMETERS)
}
_COMMON = {"session": "\\'=%", "sessionid": "=%"}  # most messages have a "sessionId"

IN_TEXT = Search(
    _parts(r"[\w.\-]*" + _ASSIGNED) | _SESSIONS,
    dict.fromkeys(WHOLE_NAMES, _ASSIGNED),
    {"sessionid": _COMMON["sessionid"]},
)
"""Each match ends at the start of a value."""

# In undecoded JSON, a word may also be part of a name ("a-token": ..., or {"name": "a-token", "value": ...}). A
# common word that is a complete name (outside a string, where its quotes would be escaped) belongs to the
# protocol.
_SPACE = r"(?:\s|\\)"
_NAME_ENDS = r"""(?:[^"\\\0]|\\[^\0]){0,200}"\s*[:,}\]]"""
_REST = r"(?:[\w.\-\x80-\xff]|\\+u[0-9a-f]{4})*"
_IN_MARKUP = r"""(?:\\*["'\s>&/]|\\u00)"""  # name="csrf_token", type=password>
_IN_NAMES_OR_TEXTS = rf"(?:{_REST}(?:{_ASSIGNED}|{_IN_MARKUP})|{_NAME_ENDS})"


def _escaped(words: Mapping[str, str]) -> dict[str, str]:
    """Return the escapes in JSON of words outside ASCII: the first letter, and the expression after it."""
    escapes: dict[str, list[str]] = {}
    for word, after in words.items():
        if not word.isascii():
            first, *others = (f"u{ord(letter):04x}" for letter in word)
            escapes.setdefault(first, []).append("".join(rf"\\+{each}" for each in others) + after)
    return {first: f"(?:{'|'.join(each)})" for first, each in escapes.items()}


_TOKENS = [
    token
    for token in AUTOCOMPLETE
    if not any(other in token for other in (*_parts(""), *AUTOCOMPLETE) if other != token)
]
_WORDS = (
    _parts(_IN_NAMES_OR_TEXTS)
    | _escaped(_parts(_IN_NAMES_OR_TEXTS))
    | _SESSIONS
    | {"basic": _SPACE, "digest": _SPACE, "negotiate": _SPACE, "eyj": ""}
    | {"bearer": rf"(?:{_SPACE}|{_IN_NAMES_OR_TEXTS})"}
    | dict.fromkeys((*_TOKENS, "text-security"), "")
)
_KEYS = {
    key: r"""(?:\\+["']|')?(?:=|%3d)"""
    if key in COMMON_NAMES
    else rf"(?:{_ASSIGNED}|{_IN_MARKUP}|{_NAME_ENDS})"
    for key in WHOLE_NAMES
}

IN_JSON = Search(_WORDS, _KEYS, _COMMON)
IN_COOKIES = Search(
    _WORDS | {"cookie": rf'(?!s":\[){_IN_NAMES_OR_TEXTS}', '"value"': '(?!:"")'}, _KEYS, _COMMON
)
"""For lists of cookies without their values: a remaining value was in an unexpected place."""


@lru_cache(2_000)
def holds_secrets(method: str) -> bool:
    """Return whether messages of this method may contain secrets in known locations, in any form."""
    tables = SECRET_PARAMETERS, WITHHELD, BASE64_FIELDS, TEXT_PIECES
    by_table = any(method in table for table in tables)
    by_structure = method in HEADER_METHODS or method in _STRUCTURED or method in CALLS or types_text(method)
    return by_table or by_structure or has_cookies(method) or AX_METHODS.match(method) is not None


@lru_cache(2_000)
def has_cookies(method: str) -> bool:
    """Return whether messages of this method contain cookies."""
    return _COOKIE_METHODS.match(method) is not None


@lru_cache(2_000)
def is_secret_field(name: str) -> bool:
    """Return whether a string in a protocol field with that name is secret."""
    return name in SECRET_TEXTS or (name not in HARMLESS_NAMES and is_secret_name(name))
