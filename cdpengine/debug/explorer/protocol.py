"""Protocol: what a browser says of its own protocol, asked for at /json/protocol or read from a file.

Rule: the browser's own document is the only source, and it is kept whole: what a newer browser adds to it is
written back by `Protocol.source`. Names are found whatever their case, and a wrong one says which were near. A
browser is asked over HTTP, once; nothing is attached to it.
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

EntryKind = Literal["domain", "command", "event", "type"]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What a value is: a JSON type, or a reference (`ref`) to a type that has a name."""

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
    """A type that has a name."""

    id: str = ""
    description: str = ""
    experimental: bool = False
    deprecated: bool = False


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command: what is sent (`parameters`) and what is answered (`returns`)."""

    name: str = ""
    description: str = ""
    parameters: tuple[Field, ...] = ()
    returns: tuple[Field, ...] = ()
    experimental: bool = False
    deprecated: bool = False
    redirect: str = ""


class EventKind(msgspec.Struct, frozen=True, kw_only=True):
    """An event, as the protocol describes it."""

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
    """Something that has a name in the protocol: `name` is the whole one, such as "Page.navigate"."""

    kind: EntryKind
    name: str
    domain: Domain
    item: Item

    @property
    def experimental(self) -> bool:
        """Whether it, or its whole domain, is experimental."""
        return self.item.experimental or self.domain.experimental

    @property
    def deprecated(self) -> bool:
        """Whether it, or its whole domain, is deprecated."""
        return self.item.deprecated or self.domain.deprecated


class _Version(msgspec.Struct, frozen=True):
    major: str = ""
    minor: str = ""


class _Document(msgspec.Struct, frozen=True):
    domains: tuple[Domain, ...]
    version: _Version = _Version()


@attrs.frozen(slots=False, eq=False)
class Protocol:
    """A browser's vocabulary. `source` is its document as it came, `version` such as "1.3"."""

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
        """Every command, by its whole name."""
        return {f"{d.name}.{command.name}": command for d in self.domains for command in d.commands}

    @cached_property
    def events(self) -> dict[str, EventKind]:
        """Every event, by its whole name."""
        return {f"{d.name}.{event.name}": event for d in self.domains for event in d.events}

    @cached_property
    def types(self) -> dict[str, Type]:
        """Every type, by its whole name."""
        return {f"{d.name}.{kind.id}": kind for d in self.domains for kind in d.types}

    def entries(self) -> Iterator[Entry]:
        """Give everything that has a name, domain after domain."""
        for domain in self.domains:
            yield Entry("domain", domain.name, domain, domain)
            for command in domain.commands:
                yield Entry("command", f"{domain.name}.{command.name}", domain, command)
            for event in domain.events:
                yield Entry("event", f"{domain.name}.{event.name}", domain, event)
            for kind in domain.types:
                yield Entry("type", f"{domain.name}.{kind.id}", domain, kind)

    def find(self, name: str) -> list[Entry]:
        """Return what has that name: one entry, or two where an event and a type share it.

        Any case will do where only one fits. Raises InvalidArgumentError, with names that are near, for none.
        """
        found = self._entries.get(name.casefold(), [])
        exact = [entry for entry in found if entry.name == name]
        if exact or found:
            return exact or found
        near = self.near(name)
        raise InvalidArgumentError(
            what="name in the protocol",
            given=repr(name[:100]),
            expected=f"a domain, command, event or type{': ' + ', '.join(near) + '?' if near else ''}",
        )

    def near(self, name: str, among: Iterable[str] | None = None) -> list[str]:
        """Return up to three names that look like `name`, of all that there are or of those in `among`."""
        names = [entry.name for entry in self.entries()] if among is None else list(among)
        folded = name.casefold()
        ends = [known for known in names if known.casefold().endswith("." + folded.rpartition(".")[2])]
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.7)
        return list(dict.fromkeys([*ends, *close]))[:3]

    def search(self, word: str) -> list[Entry]:
        """Return what has `word` (any case) in its name first, then what has it in its description or fields."""
        low = word.casefold()
        named, told = [], []
        for entry in self.entries():
            if low in entry.name.casefold():
                named.append(entry)
            elif low in entry.item.description.casefold() or any(
                low in field.name.casefold() or low in field.description.casefold()
                for field in fields_of(entry.item)
            ):
                told.append(entry)
        return named + told

    def resolve(self, shape: Shape, domain: str) -> tuple[str, Type | None]:
        """Return the whole name of the type that `shape` refers to within `domain`, and the type.

        The name is "" when it refers to none; the type None when the document lacks it.
        """
        if not shape.ref:
            return "", None
        name = shape.ref if "." in shape.ref else f"{domain}.{shape.ref}"
        return name, self.types.get(name)

    def references(self, item: Item, domain: str) -> dict[str, Type]:
        """Return every type that `item` is made of, however deep, by its whole name."""
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
        """Return the values that a shape allows, where the protocol lists them; () where it does not."""
        if shape.enum:
            return shape.enum
        _, kind = self.resolve(shape, domain)
        if kind is not None:
            return kind.enum
        return ("true", "false") if shape.type == "boolean" else ()


def fields_of(item: Item) -> tuple[Field, ...]:
    """Return the parameters, results and properties of something."""
    match item:
        case Command():
            return (*item.parameters, *item.returns)
        case EventKind():
            return item.parameters
        case Type():
            return item.properties
    return ()


def decode_protocol(document: bytes, origin: str) -> Protocol:
    """Read what /json/protocol answers. `origin` names where it is from. Raises InvalidArgumentError."""
    try:
        read = _json.decode(document, _Document)
    except msgspec.DecodeError as error:
        raise InvalidArgumentError(
            what="protocol", given=origin, expected=f"a document as /json/protocol gives it ({error})"
        ) from None
    version = f"{read.version.major}.{read.version.minor}".strip(".")
    return Protocol(document, version, tuple(sorted(read.domains, key=lambda domain: domain.name)))


# --- where it is from ----------------------------------------------------------------------------------------

_PATH = "/json/protocol"
_LONGEST = 1 << 26
"""Bytes of a protocol. Chrome's is 2 MB."""


async def fetch_protocol(
    endpoint: str, *, headers: Mapping[str, str] | None = None, timeout: float = 30
) -> Protocol:
    """Ask the browser at `endpoint` ("http://host:port" or its "ws://...") for its protocol.

    Raises InvalidArgumentError when it is not an endpoint or answers no protocol, ConnectFailedError when nothing
    answers in `timeout` seconds.
    """
    check_endpoint(endpoint)
    shown = redact_endpoint(endpoint)
    answer: bytes | None = None
    with trio.move_on_after(timeout):
        resolved = await resolve_endpoint(endpoint, headers)
        _url, answer = await get(_protocol_url(resolved.ws_url), headers or {}, shown=shown, longest=_LONGEST)
    if answer is None:
        raise ConnectFailedError(endpoint=shown, reason=f"no answer of {_PATH} within {timeout:g} s")
    return decode_protocol(answer, f"{_PATH} of {shown}")


def read_protocol(path: Path) -> Protocol:
    """Read a protocol that was saved. Raises InvalidArgumentError."""
    try:
        document = path.read_bytes()
    except OSError as error:
        raise InvalidArgumentError(
            what="protocol", given=str(path), expected=f"a file that can be read ({error.strerror})"
        ) from None
    return decode_protocol(document, str(path))


def _protocol_url(ws_url: str) -> str:
    parts = urlsplit(ws_url)
    prefix = parts.path.partition("/devtools/")[0] if "/devtools/" in parts.path else ""
    scheme = "https" if parts.scheme == "wss" else "http"
    return parts._replace(scheme=scheme, path=prefix.rstrip("/") + _PATH, fragment="").geturl()
