"""A context's cookies and storages as data, JSON and a file.

Rule: the JSON is Playwright's storage state format, so files work in both directions. A file is accepted as a
whole or not at all. Types are not converted, every cookie and origin is checked, and an error names the place of
the fault but not the value. A file is replaced only by a complete new one, and only its owner can read it. Reading
and writing files blocks: call it in a thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine import _json
from cdpengine._launch.private_files import write_private
from cdpengine._storage.cookies import (
    Cookie,
    CookiePartition,
    SameSite,
    check_cookie,
)
from cdpengine._storage.databases import (
    DatabaseContent,
    check_databases,
)
from cdpengine._storage.storage_items import (
    check_items,
)
from cdpengine._urls.origins import check_origin
from cdpengine.errors import (
    FileNotWrittenError,
    FileUnreadableError,
    InvalidArgumentError,
    exhausted,
    os_reason,
    shortages_named,
)

if TYPE_CHECKING:
    import cattrs


@attrs.frozen
class OriginState:
    """The storages of one origin.

    `indexed_db` are its databases with their records, as JSON: the format of the file. `session_storage` is that
    of one tab.
    """

    origin: str
    local_storage: Mapping[str, str] = attrs.field(repr=False)
    indexed_db: tuple[DatabaseContent, ...] = attrs.field(default=(), repr=False)
    session_storage: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether the origin has no data."""
        return not (self.local_storage or self.indexed_db or self.session_storage)


@attrs.frozen
class StorageState:
    """A context's cookies and storages, which include log-ins. Treat it as a secret."""

    cookies: tuple[Cookie, ...] = ()
    origins: tuple[OriginState, ...] = ()

    def __repr__(self) -> str:
        return f"<StorageState of {len(self.cookies)} cookies, {len(self.origins)} origins>"

    def to_json(self) -> str:
        """Return the state as JSON, in the format of Playwright's storage states."""
        state = _FileState(
            cookies=[_to_file(cookie) for cookie in self.cookies],
            origins=[
                _FileOrigin(
                    each.origin,
                    _to_items(each.local_storage),
                    list(each.indexed_db),
                    _to_items(each.session_storage),
                )
                for each in self.origins
            ],
        )
        return f"{_json.encode_text(_converter().unstructure(state), indent=2)}\n"

    @classmethod
    def from_json(cls, text: str) -> StorageState:
        """Parse a JSON string. Raises ValueError with the fault and its place."""
        return cls.from_dict(_json.decode_leniently(text))

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> StorageState:
        """Return the state of a decoded JSON object, such as Playwright's `context.storage_state()`.

        Raises ValueError with the fault and its place.
        """
        if not isinstance(plain, Mapping) or not ("cookies" in plain or "origins" in plain):
            raise ValueError('it is not an object with "cookies" and "origins"')
        converter = _converter()
        from cattrs import BaseValidationError, transform_error

        try:
            state = converter.structure(dict(plain), _FileState)
        except (BaseValidationError, TypeError) as error:
            raise ValueError(transform_error(error)[0]) from None
        try:
            cookies = tuple(
                check_cookie(_from_file(each), f"cookies[{number}]")
                for number, each in enumerate(state.cookies)
            )
            origins = tuple(
                OriginState(
                    check_origin(each.origin, f"origins[{number}].origin"),
                    {item.name: item.value for item in each.local_storage},
                    check_databases(each.indexed_db, f"origins[{number}].indexedDB"),
                    {item.name: item.value for item in each.session_storage},
                )
                for number, each in enumerate(state.origins)
            )
        except InvalidArgumentError as error:
            raise ValueError(str(error)) from None
        return cls(cookies, origins)


def check_state(state: StorageState) -> StorageState:
    """Check a state that a program made, and return it. Raises InvalidArgumentError."""
    cookies = tuple(check_cookie(each, f"cookies[{n}]") for n, each in enumerate(state.cookies))
    origins = tuple(
        OriginState(
            check_origin(each.origin),
            check_items(each.local_storage),
            check_databases(each.indexed_db, f"origins[{n}].indexed_db"),
            check_items(each.session_storage),
        )
        for n, each in enumerate(state.origins)
    )
    return StorageState(cookies, origins)


# --- the shape of the file -----------------------------------------------------------------------------------


@attrs.frozen
class _FileCookie:
    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float = -1
    http_only: bool = False
    secure: bool = False
    same_site: str | None = None
    partition_key: str | None = None
    cross_site_ancestor: bool | None = None
    priority: str = "Medium"
    source_scheme: str = "Unset"
    source_port: float = -1


@attrs.frozen
class _FileItem:
    name: str
    value: str


@attrs.frozen
class _FileOrigin:
    origin: str
    local_storage: list[_FileItem] = attrs.field(factory=list)
    indexed_db: list[Any] = attrs.field(factory=list)
    session_storage: list[_FileItem] = attrs.field(factory=list)


def _to_items(items: Mapping[str, str]) -> list[_FileItem]:
    return [_FileItem(*item) for item in items.items()]


@attrs.frozen
class _FileState:
    cookies: list[_FileCookie] = attrs.field(factory=list)
    origins: list[_FileOrigin] = attrs.field(factory=list)


_LISTS = frozenset({"cookies", "origins", "localStorage", "indexedDB", "sessionStorage"})


def _to_file(cookie: Cookie) -> _FileCookie:
    partition = cookie.partition
    return _FileCookie(
        name=cookie.name,
        value=cookie.value,
        domain=cookie.domain,
        path=cookie.path,
        expires=-1 if cookie.expires is None else cookie.expires,
        http_only=cookie.http_only,
        secure=cookie.secure,
        same_site=cookie.same_site,
        partition_key=None if partition is None else partition.top_level_site,
        cross_site_ancestor=None if partition is None else partition.cross_site_ancestor,
        priority=cookie.priority,
        source_scheme=cookie.source_scheme,
        source_port=cookie.source_port,
    )


def _from_file(cookie: _FileCookie) -> Cookie:
    partition = None
    if cookie.partition_key is not None:
        partition = CookiePartition(cookie.partition_key, cookie.cross_site_ancestor is not False)
    same_site: SameSite | None = cookie.same_site  # type: ignore[assignment] # checked with the rest
    return Cookie(
        name=cookie.name,
        value=cookie.value,
        domain=cookie.domain,
        path=cookie.path,
        expires=None if cookie.expires < 0 else cookie.expires,
        http_only=cookie.http_only,
        secure=cookie.secure,
        same_site=same_site,
        partition=partition,
        priority=cookie.priority,  # type: ignore[arg-type] # checked with the rest
        source_scheme=cookie.source_scheme,  # type: ignore[arg-type]
        source_port=int(cookie.source_port),
    )


def _strict_hook(*kinds: type) -> Any:
    def structure(value: object, _kind: object) -> object:
        if isinstance(value, bool) != (bool in kinds) or not isinstance(value, kinds):
            raise TypeError(f"a {type(value).__name__} where a {kinds[0].__name__} is expected")
        return value

    return structure


@cache
@shortages_named(partial(exhausted, "load the converter of storage states"))
def _converter() -> cattrs.Converter:
    """Create the converter on first use, because importing the package is slow."""
    import cattrs
    from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

    converter = cattrs.Converter()
    converter.register_structure_hook(str, _strict_hook(str))
    converter.register_structure_hook(bool, _strict_hook(bool))
    converter.register_structure_hook(float, _strict_hook(float, int))
    names = {
        _FileCookie: {
            "http_only": "httpOnly",
            "same_site": "sameSite",
            "partition_key": "partitionKey",
            "cross_site_ancestor": "_crHasCrossSiteAncestor",
            "priority": "priority",
            "source_scheme": "sourceScheme",
            "source_port": "sourcePort",
        },
        _FileItem: {},
        _FileOrigin: {
            "local_storage": "localStorage",
            "indexed_db": "indexedDB",
            "session_storage": "sessionStorage",
        },
        _FileState: {},
    }
    for kind, renamed in names.items():
        overrides = {
            ours: override(rename=theirs, omit_if_default=ours not in ("http_only", "local_storage"))
            for ours, theirs in renamed.items()
        }
        structure = make_dict_structure_fn(kind, converter, **overrides)  # type: ignore[var-annotated, arg-type]

        def strict(value: object, of: Any, structure: Any = structure) -> object:
            if not isinstance(value, dict):
                raise TypeError(f"a {type(value).__name__} where an object is expected")
            for name in _LISTS & value.keys():
                if not isinstance(value[name], list):
                    raise TypeError(f"a {type(value[name]).__name__} where the list {name!r} is expected")
            return structure(value, of)

        converter.register_structure_hook(kind, strict)
        converter.register_unstructure_hook(kind, make_dict_unstructure_fn(kind, converter, **overrides))  # type: ignore[arg-type]
    return converter


_LARGEST = 256 * 1024 * 1024
"""Maximum size of a file, in bytes."""


def read_state(path: Path) -> StorageState:
    """Return the state in a file. Raises FileUnreadableError."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except OSError as error:
        raise _no_state(path, os_reason(error)) from None
    if len(raw) > _LARGEST:
        raise _no_state(path, f"it has more than {_LARGEST} bytes")
    try:
        return StorageState.from_json(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _no_state(path, "it is not UTF-8 text") from None
    except ValueError as error:
        raise _no_state(path, str(error)) from None


def _no_state(path: Path, reason: str) -> FileUnreadableError:
    return FileUnreadableError("a storage state", str(path), reason, advice="It was not applied")


def write_state(path: Path, state: StorageState) -> None:
    """Write a state to a private file. Raises FileNotWrittenError and then keeps the old file."""
    data = state.to_json().encode()
    try:
        write_private(path, data)
    except OSError as error:
        raise FileNotWrittenError("the storage state", str(path), os_reason(error)) from error
