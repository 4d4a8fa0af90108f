"""A browser's protocol description, fetched from /json/protocol or read from a file.

Rule: the browser's document is the only source. `Protocol.source` keeps it unchanged, so that fields of newer
browsers are written back. Lookups ignore case, and an unknown name lists similar ones. Fetching needs one HTTP
request and attaches to nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import attrs
import msgspec
import trio

from cdpengine import _json
from cdpengine._launch.endpoint import check_endpoint, redact_endpoint, resolve_endpoint
from cdpengine._protocol.http_connections import get
from cdpengine.errors import ConnectFailedError, InvalidArgumentError
from cdpengine.errors.texts import duration

EntryKind = Literal["domain", "command", "event", "type"]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """The shape of a value: a JSON type, or a reference (`ref`) to a named type."""

    type: str = ""
    ref: str = msgspec.field(default="", name="$ref")
    enum: tuple[str, ...] = ()
    items: Shape | None = None
    properties: tuple[Field, ...] = ()


class Field(Shape, frozen=True, kw_only=True):
    """A parameter of a command or an event, a field of a reply, or a property of a type."""

    name: str = ""
    description: str = ""
    optional: bool = False
    experimental: bool = False
    deprecated: bool = False


class Type(Shape, frozen=True, kw_only=True):
    """A named type."""

    id: str = ""
    description: str = ""
    experimental: bool = False
    deprecated: bool = False


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command: its `parameters` and its results (`returns`)."""

    name: str = ""
    description: str = ""
    parameters: tuple[Field, ...] = ()
    returns: tuple[Field, ...] = ()
    experimental: bool = False
    deprecated: bool = False
    redirect: str = ""


class EventKind(msgspec.Struct, frozen=True, kw_only=True):
    """An event in the protocol description."""

    name: str = ""
    description: str = ""
    parameters: tuple[Field, ...] = ()
    experimental: bool = False
    deprecated: bool = False


class Domain(msgspec.Struct, frozen=True, kw_only=True):
    """One domain of the protocol."""

    name: str = msgspec.field(default="", name="domain")
    description: str = ""
    commands: tuple[Command, ...] = ()
    events: tuple[EventKind, ...] = ()
    types: tuple[Type, ...] = ()
    dependencies: tuple[str, ...] = ()
    experimental: bool = False
    deprecated: bool = False


Item = Domain | Command | EventKind | Type


@attrs.frozen
class Entry:
    """A named entry of the protocol. `name` is the full name, such as "Page.navigate"."""

    kind: EntryKind
    name: str
    domain: Domain
    item: Item

    @property
    def experimental(self) -> bool:
        """Whether the entry or its domain is experimental."""
        return self.item.experimental or self.domain.experimental

    @property
    def deprecated(self) -> bool:
        """Whether the entry or its domain is deprecated."""
        return self.item.deprecated or self.domain.deprecated


class _Version(msgspec.Struct, frozen=True):
    major: str = ""
    minor: str = ""


class _Document(msgspec.Struct, frozen=True):
    domains: tuple[Domain, ...]
    version: _Version = _Version()


@attrs.frozen(slots=False, eq=False)
class Protocol:
    """A browser's protocol. `source` is the unchanged document; `version` is for example "1.3"."""

    source: bytes = attrs.field(repr=False)
    version: str
    domains: tuple[Domain, ...] = attrs.field(repr=False)

    @cached_property
    def _entries(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries():
            found.setdefault(entry.name.casefold(), []).append(entry)
        return found

    @cached_property
    def commands(self) -> dict[str, Command]:
        """All commands by full name."""
        return {f"{d.name}.{command.name}": command for d in self.domains for command in d.commands}

    @cached_property
    def events(self) -> dict[str, EventKind]:
        """All events by full name."""
        return {f"{d.name}.{event.name}": event for d in self.domains for event in d.events}

    @cached_property
    def types(self) -> dict[str, Type]:
        """All types by full name."""
        return {f"{d.name}.{kind.id}": kind for d in self.domains for kind in d.types}

    def entries(self) -> Iterator[Entry]:
        """Yield all named entries, domain after domain."""
        for domain in self.domains:
            yield Entry("domain", domain.name, domain, domain)
            for command in domain.commands:
                yield Entry("command", f"{domain.name}.{command.name}", domain, command)
            for event in domain.events:
                yield Entry("event", f"{domain.name}.{event.name}", domain, event)
            for kind in domain.types:
                yield Entry("type", f"{domain.name}.{kind.id}", domain, kind)

    def find(self, name: str) -> list[Entry]:
        """Return the entries with that name: one, or two if an event and a type share it.

        Case matters only if several entries match. Raises InvalidArgumentError with similar names if no entry
        matches.
        """
        found = self._entries.get(name.casefold(), [])
        exact = [entry for entry in found if entry.name == name]
        if exact or found:
            return exact or found
        near = ", ".join(each[:40] for each in self.near(name))
        raise InvalidArgumentError(
            what="name in the protocol",
            given=repr(name[:100]),
            expected=f"a domain, command, event or type{f': {near}?' if near else ''}",
        )

    def near(self, name: str, among: Iterable[str] | None = None) -> list[str]:
        """Return up to three names similar to `name`, from all entries or from `among`."""
        names = [entry.name for entry in self.entries()] if among is None else list(among)
        folded = name.casefold()
        ends = [known for known in names if known.casefold().endswith("." + folded.rpartition(".")[2])]
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.7)
        return list(dict.fromkeys([*ends, *close]))[:3]

    def search(self, word: str) -> list[Entry]:
        """Return entries with `word` (any case) in their name, then those with it in a description or field."""
        low = word.casefold()
        named, described = [], []
        for entry in self.entries():
            if low in entry.name.casefold():
                named.append(entry)
            elif low in entry.item.description.casefold() or any(
                low in field.name.casefold() or low in field.description.casefold()
                for field in fields_of(entry.item)
            ):
                described.append(entry)
        return named + described

    def resolve(self, shape: Shape, domain: str) -> tuple[str, Type | None]:
        """Return the full name of the type that `shape` refers to within `domain`, and the type.

        The name is "" for a shape without a reference. The type is None if the document lacks it.
        """
        if not shape.ref:
            return "", None
        name = shape.ref if "." in shape.ref else f"{domain}.{shape.ref}"
        return name, self.types.get(name)

    def references(self, item: Item, domain: str) -> dict[str, Type]:
        """Return every type that `item` uses, at any depth, by full name."""
        found: dict[str, Type] = {}
        open_shapes: list[tuple[Shape, str]] = [(field, domain) for field in fields_of(item)]
        if isinstance(item, Type):
            open_shapes.append((item, domain))
        while open_shapes:
            shape, home = open_shapes.pop()
            name, kind = self.resolve(shape, home)
            if kind is not None and name not in found:
                found[name] = kind
                open_shapes.append((kind, name.partition(".")[0]))
            if shape.items is not None:
                open_shapes.append((shape.items, home))
            open_shapes += [(inner, home) for inner in shape.properties]
        return dict(sorted(found.items()))

    def values(self, shape: Shape, domain: str) -> tuple[str, ...]:
        """Return the allowed values of a shape, or () if the protocol does not list them."""
        if shape.enum:
            return shape.enum
        _, kind = self.resolve(shape, domain)
        if kind is not None:
            return kind.enum
        return ("true", "false") if shape.type == "boolean" else ()


def fields_of(item: Item) -> tuple[Field, ...]:
    """Return the parameters, results and properties of an item."""
    match item:
        case Command():
            return (*item.parameters, *item.returns)
        case EventKind():
            return item.parameters
        case Type():
            return item.properties
    return ()


def decode_protocol(document: bytes, origin: str) -> Protocol:
    """Decode a document of /json/protocol. `origin` names its source in errors. Raises InvalidArgumentError."""
    try:
        read = _json.decode(document, _Document)
    except msgspec.DecodeError as error:
        raise InvalidArgumentError(
            what="protocol", given=origin, expected=f"a document as /json/protocol gives it ({error})"
        ) from None
    version = f"{read.version.major}.{read.version.minor}".strip(".")
    return Protocol(document, version, tuple(sorted(read.domains, key=lambda domain: domain.name)))


# --- sources ----------------------------------------------------------------------------------------

_PATH = "/json/protocol"
_LONGEST = 1 << 26
"""Maximum size of a protocol, in bytes. Chrome's is 2 MB."""


async def fetch_protocol(
    endpoint: str, *, headers: Mapping[str, str] | None = None, timeout: float = 30
) -> Protocol:
    """Fetch the protocol of the browser at `endpoint` ("http://host:port" or its "ws://...").

    Raises InvalidArgumentError for an invalid endpoint or document, and ConnectFailedError if no answer comes
    within `timeout` seconds.
    """
    check_endpoint(endpoint)
    redacted = redact_endpoint(endpoint)
    answer: bytes | None = None
    with trio.move_on_after(timeout):
        resolved = await resolve_endpoint(endpoint, headers)
        _url, answer = await get(
            _protocol_url(resolved.ws_url), headers or {}, endpoint=redacted, longest=_LONGEST
        )
    if answer is None:
        raise ConnectFailedError(endpoint=redacted, reason=f"no answer of {_PATH} within {duration(timeout)}")
    return decode_protocol(answer, f"{_PATH} of {redacted}")


def read_protocol(path: Path) -> Protocol:
    """Read a saved protocol. Raises InvalidArgumentError."""
    try:
        document = path.read_bytes()
    except OSError as error:
        raise InvalidArgumentError(
            what="protocol", given=str(path), expected=f"a readable file ({error.strerror})"
        ) from None
    return decode_protocol(document, str(path))


def _protocol_url(ws_url: str) -> str:
    parts = urlsplit(ws_url)
    prefix = parts.path.partition("/devtools/")[0] if "/devtools/" in parts.path else ""
    scheme = "https" if parts.scheme == "wss" else "http"
    return parts._replace(scheme=scheme, path=prefix.rstrip("/") + _PATH, fragment="").geturl()
