"""The IndexedDB databases of an origin with their records, as JSON; read from an origin's page and written to it.

Rule: the page is the engine's own empty document, so no script of the site runs. The JSON is that of Playwright's
storage states, with more tags: every value of a structured clone that JSON can represent survives. A value that it
cannot (a CryptoKey, a file handle) is an error that names its store. Recordings withhold the contents.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from cdpengine import _json
from cdpengine._checks import check_type, invalid
from cdpengine._javascript import script
from cdpengine._posted_strings import posted_values
from cdpengine._protocol.domains.runtime import EvaluateReply
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError, StorageUnavailableError

DatabaseContent: TypeAlias = Mapping[str, Any]
"""A database: `name`, `version`, and `stores` with their `records` and `indexes`."""


async def read_databases(session: Session, origin: str) -> list[dict[str, Any]]:
    """Return the databases of the page's origin. Raises StorageUnavailableError."""
    read = await _run(session, origin, None)
    return read if isinstance(read, list) else []


async def write_databases(session: Session, origin: str, databases: Sequence[DatabaseContent]) -> None:
    """Create databases in the page's origin. Raises StorageUnavailableError, also for one that exists already."""
    plain = list(databases)
    for value in posted_values(_json.encode_ascii(plain).encode()):
        session.connection.instruments.add_secret(value)
    await _run(session, origin, plain)


def check_absent(origin: str, names: Iterable[str], present: Container[str]) -> None:
    """Raise StorageUnavailableError for a database that exists already."""
    for name in names:
        if name in present:
            reason = f"IndexedDB: database {_json.encode_text(name)} exists already"
            raise StorageUnavailableError(origin=origin, reason=reason)


async def delete_databases(session: Session, origin: str, names: Sequence[str]) -> None:
    """Delete databases by name, for undoing."""
    where = {"storageKey": f"{origin}/"}
    for name in names:
        await session.call("IndexedDB.deleteDatabase", databaseName=name, **where)


async def _run(session: Session, origin: str, written: object) -> Any:
    argument = _json.encode_ascii(written)
    params = {
        "expression": f"({script('_storage/databases')})({argument})",
        "awaitPromise": True,
        "returnByValue": True,
    }
    reply = await session.request("Runtime.evaluate", params, EvaluateReply)
    text = reply.result.value
    result = _json.decode_leniently(text) if isinstance(text, str) else {"error": "Chrome ran no script"}
    if isinstance(result, dict):
        raise StorageUnavailableError(origin=origin, reason=f"IndexedDB: {result.get('error')}")
    return result


def check_databases(given: object, what: str) -> tuple[DatabaseContent, ...]:
    """Return databases of a file or a program, checked as far as writing needs. Raises InvalidArgumentError."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise invalid(what, type(given).__name__, "a list of databases")
    for number, database in enumerate(given):
        at = f"{what}[{number}]"
        check_type(at, database, Mapping, "an object")
        check_type(f"{at}.name", database.get("name"), str, "a string")
        version = database.get("version")
        if isinstance(version, bool) or not isinstance(version, int | float) or not _is_version(version):
            raise invalid(f"{at}.version", version, "a whole number from 1 on")
        for store_number, store in enumerate(_list(f"{at}.stores", database.get("stores"))):
            inside = f"{at}.stores[{store_number}]"
            check_type(inside, store, Mapping, "an object")
            check_type(f"{inside}.name", store.get("name"), str, "a string")
            for name in ("records", "indexes"):
                for each in _list(f"{inside}.{name}", store.get(name, [])):
                    check_type(f"{inside}.{name}", each, Mapping, "objects")
    try:
        _json.encode_ascii(list(given))
    except (TypeError, ValueError, RecursionError):
        raise InvalidArgumentError(what, "a value that is not JSON", "databases as JSON") from None
    return tuple(given)


def _is_version(version: float) -> bool:
    return math.isfinite(version) and version >= 1 and version == int(version)


def _list(what: str, given: object) -> Sequence[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise invalid(what, type(given).__name__, "a list")
    return given
