"""A context's cookies and storages as data, JSON and a file; read from a context and applied to it.

Rule: the JSON is Playwright's storage state format, so files work in both directions. A file is accepted as a
whole or not at all. Types are not converted, every cookie and origin is checked, and an error names the place of
the fault but not the value. A file is replaced only by a complete new one, and only its owner can read it. Reading
and writing files blocks: call it in a thread.

A state is applied as a whole or not at all: after a failure, the applied part is removed. Chrome does not list the
origins with local storage, so the origins of pages and their frames are remembered (VisitedOrigins): a few bytes
each, bounded, without a query to any page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine import _json
from cdpengine._launch.private_files import write_private
from cdpengine._logs import get_logger
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import FrameNavigated
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._storage.cookies import (
    Cookie,
    CookiePartition,
    SameSite,
    check_cookie,
    is_expired,
    read_cookies,
    write_cookies,
)
from cdpengine._storage.databases import (
    DatabaseContent,
    check_absent,
    check_databases,
    delete_databases,
    read_databases,
    write_databases,
)
from cdpengine._storage.storage_items import (
    OriginPage,
    StorageItems,
    check_items,
    list_databases,
    top_storage_key,
)
from cdpengine._urls.origins import check_origin, origin_of
from cdpengine.errors import (
    EngineError,
    FileNotWrittenError,
    FileUnreadableError,
    InvalidArgumentError,
    SessionGoneError,
    StorageUnavailableError,
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


# --- reading a context, and applying a state -----------------------------------------------------------------

logger = get_logger("cdpengine.state")

_UNDO_TIMEOUT = 10.0
"""Maximum duration of undoing a partly applied state, in seconds. It opens a page, which may be slow."""


async def collect_state(
    root: Session,
    context_id: str | None,
    origin_page: AbstractAsyncContextManager[OriginPage],
    visited_origins: Sequence[str],
    requested_origins: Sequence[str],
    *,
    indexed_db: bool = False,
    tabs: Mapping[str, Session] = {},
) -> StorageState:
    """Return the cookies of a context, and the storages of the origins that have data.

    `indexed_db` includes databases. `tabs` are pages by origin whose session storage is included. Raises
    StorageUnavailableError for an origin of `requested_origins`, and for a database that JSON cannot represent. An
    unreachable origin of `visited_origins` is skipped and logged.
    """
    cookies = await read_cookies(root, context_id)
    states = []
    origins = list(dict.fromkeys([*requested_origins, *visited_origins, *tabs]))
    if origins:
        async with origin_page as page:
            for origin in origins:
                try:
                    items = await (await page.go(origin)).read()
                except StorageUnavailableError as error:
                    if origin in requested_origins:
                        raise
                    logger.warning("%s", error)
                    continue
                databases = await read_databases(page.session, origin) if indexed_db else []
                found = OriginState(
                    origin, items, tuple(databases), await _read_session_items(tabs.get(origin), origin)
                )
                if not found.is_empty:
                    states.append(found)
    return StorageState(tuple(cookies), tuple(states))


async def _read_session_items(tab: Session | None, origin: str) -> dict[str, str]:
    if tab is None:
        return {}
    try:
        return await StorageItems(tab, top_storage_key(origin), local=False).read()
    except (StorageUnavailableError, SessionGoneError) as error:  # the tab left the origin, or closed
        logger.warning("%s", error)
        return {}


async def apply_state(
    root: Session,
    creations: RemoteResources,
    context_id: str | None,
    origin_page: Callable[[], AbstractAsyncContextManager[OriginPage]],
    state: StorageState,
) -> None:
    """Apply a checked state, except its session storage; other data of the context stays.

    Raises InvalidArgumentError, StorageUnavailableError, also for a database that exists already.
    """
    cookies = [cookie for cookie in state.cookies if not is_expired(cookie)]
    origins = [each for each in state.origins if each.local_storage or each.indexed_db]
    for each in origins:  # before reading: an existing item may have the same value
        for value in each.local_storage.values():
            root.connection.instruments.add_secret(value)
    for cookie in cookies:
        root.connection.instruments.add_secret(cookie.value)
    if not origins:
        await write_cookies(root, creations, context_id, cookies)
        return
    before: list[tuple[OriginState, dict[str, str], list[str]]] = []
    try:
        async with origin_page() as page:
            for each in origins:
                items = await page.go(each.origin)
                created: list[str] = []
                if each.indexed_db:
                    present = {one.name for one in await list_databases(page.session, items.storage_key)}
                    created = [one["name"] for one in each.indexed_db]
                    check_absent(each.origin, created, present)  # before the first write
                before.append((each, await items.read(), created))
                await items.write(each.local_storage)
                if each.indexed_db:
                    await write_databases(page.session, each.origin, each.indexed_db)
            await write_cookies(root, creations, context_id, cookies)
    except BaseException:
        await creations.dispose(partial(_remove_applied, origin_page), before, _UNDO_TIMEOUT)
        raise


_MOST = 10_000
"""Maximum number of remembered origins per context."""


class VisitedOrigins:
    """The origins that one browser's pages have visited. Its method `set_up` runs for each session of a page."""

    def __init__(self, pages: Mapping[str, PageTarget]) -> None:
        self._pages = pages
        self._by_context: dict[str | None, dict[str, None]] = {}

    def set_up(self, page: PageTarget, session: Session) -> Sequence[PendingCall]:
        """Follow the documents of a session's frames."""
        if session.target_type != "worker":

            def navigated(event: Event) -> None:
                self._note(page.context_id, event.decode(FrameNavigated).frame.url)

            session.on_event("Page.frameNavigated", navigated)
        return ()

    def of(self, context_id: str | None) -> list[str]:
        """Return the origins of a context, in the order of their first visit."""
        for page in self._pages.values():
            for frame in page.frames:
                self._note(page.context_id, frame.url)
        return list(self._by_context.get(context_id, ()))

    def forget(self, context_id: str | None) -> None:
        """Forget a context that was disposed of."""
        self._by_context.pop(context_id, None)

    def _note(self, context_id: str | None, url: str) -> None:
        origins = self._by_context.setdefault(context_id, {})
        if len(origins) < _MOST and (origin := origin_of(url)) is not None:
            origins[origin] = None


async def _remove_applied(
    origin_page: Callable[[], AbstractAsyncContextManager[OriginPage]],
    before: Sequence[tuple[OriginState, dict[str, str], list[str]]],
) -> None:
    if not before:
        return
    with (
        trio.move_on_after(_UNDO_TIMEOUT, shield=True),
        suppress(EngineError),
    ):  # the context ended, and its data too
        async with origin_page() as page:
            for each, old, created in reversed(before):
                items = await page.go(each.origin)
                await delete_databases(page.session, each.origin, created)
                await items.delete([key for key in each.local_storage if key not in old])
                remaining = {key: value for key, value in old.items() if key in each.local_storage}
                await items.write(remaining, entered=False)
