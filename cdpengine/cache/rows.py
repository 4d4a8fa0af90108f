"""Rows of a store: encode an entry into the columns of a row, and decode it.

Rule: the body holds the whole entry, sealed if the store has a key. The other columns let queries choose
entries without opening bodies: they hold the place of the entry and the figures of its runs.
"""

from __future__ import annotations

import attrs

from cdpengine import _json
from cdpengine._storage.encryption import Cipher
from cdpengine.cache.addresses import UrlPattern, normalize_url
from cdpengine.cache.encryption import missing_key
from cdpengine.cache.entries import CacheEntry, EntryStatistics
from cdpengine.cache.entry_json import entry_to_json, parse_entry
from cdpengine.errors import FileUnreadableError, InvalidArgumentError

Row = tuple[str, int, bytes, int, float, int, int, int, int, float, int, float]
"""The types of `COLUMNS`."""

COLUMNS = (
    "id, version, body, sealed, used_at, successes, failures, mistakes, cancelled, total_ms, failed_in_row, "
    "expires_at"
)

_EXACT = 1_000_000
"""Bonus in the weight of an address without `*`, larger than the weight of every pattern."""


def place_of(address: str) -> str:
    """Return the index key of an address: its part before the query; its host if that part has a `*`; else "*".

    Each address has one key, and a URL has three (`places_of`).
    """
    head = _before_query(address)
    if "*" not in head:
        return head
    host = _host_of(head)
    return "*" if "*" in host else host


def places_of(url: str) -> tuple[str, ...]:
    """Return the index keys of all addresses that may match a URL; () if no entry can match it."""
    try:
        head = _before_query(normalize_url(url))
    except InvalidArgumentError:
        return ()
    return head, _host_of(head), "*"


def weight_of(address: str) -> int:
    """Return the specificity of an address: the address with the higher weight fits a page better."""
    pattern = UrlPattern(address)
    return pattern.weight + (_EXACT if pattern.is_exact else 0)


def statistics_of(row: Row) -> EntryStatistics:
    """Return the statistics in a row."""
    used_at, successes, failures, mistakes, cancelled, total_ms, failed_in_row = row[4:11]
    found = EntryStatistics(
        successes=successes,
        failures=failures,
        mistakes=mistakes,
        cancelled=cancelled,
        failed_in_row=failed_in_row,
        total_ms=total_ms,
    )
    return attrs.evolve(found, last_used_at=used_at) if found.uses else found


def counts_of(statistics: EntryStatistics) -> tuple[int, int, int, int, float, int]:
    """Return the columns from `successes` to `failed_in_row`."""
    return (
        statistics.successes,
        statistics.failures,
        statistics.mistakes,
        statistics.cancelled,
        statistics.total_ms,
        statistics.failed_in_row,
    )


def is_narrower(before: CacheEntry, entry: CacheEntry) -> bool:
    """Return whether `before` is the flow of `entry` with fewer variables."""
    same_place = attrs.evolve(before.key, variables=entry.key.variables) == entry.key
    fewer = set(before.key.variables) < set(entry.key.variables)
    return same_place and fewer and _actions(before) == _actions(entry)


def _actions(entry: CacheEntry) -> list[tuple[str, list[str]]]:
    """Return the kind of each step and the roles of its elements. Names may have become variables."""
    return [
        (step.request.kind, [target.role for _, target in sorted(step.targets.items())])
        for step in entry.all_steps()
    ]


def add_statistics(first: EntryStatistics, second: EntryStatistics) -> EntryStatistics:
    """Return the sum of two statistics, with the consecutive failures of the first."""
    return attrs.evolve(
        first,
        successes=first.successes + second.successes,
        failures=first.failures + second.failures,
        mistakes=first.mistakes + second.mistakes,
        cancelled=first.cancelled + second.cancelled,
        total_ms=first.total_ms + second.total_ms,
        last_used_at=max(first.last_used_at, second.last_used_at),
    )


@attrs.frozen
class RowCodec:
    """A codec for the entries of one owner. `path` appears in error messages."""

    path: str
    owner: str
    cipher: Cipher | None

    def encode(self, entry: CacheEntry) -> tuple[bytes, bool]:
        """Return the body of an entry, and whether it is sealed."""
        data = entry_to_json(attrs.evolve(entry, statistics=EntryStatistics()))
        text = _json.encode_text(data, compact=True)
        if self.cipher is None:
            return text.encode(), False
        return self.cipher.seal(text, self._about(entry.key.id, entry.version)), True

    def decode(self, identity: str, version: int, body: bytes, sealed: int) -> CacheEntry:
        """Return the entry of a body. Raises FileUnreadableError, or CacheUnavailableError without the key."""
        try:
            if sealed:
                if self.cipher is None:
                    raise missing_key(self.path)
                text = self.cipher.open(bytes(body), self._about(identity, version))
            else:
                text = bytes(body).decode()
            entry = parse_entry(_json.decode_leniently(text))
            if entry.key.id != identity:
                raise ValueError("it is of another key")
        except (ValueError, TypeError) as error:
            reason = "it cannot be decrypted" if sealed else f"it is no entry ({type(error).__name__})"
            hint = f"Delete it (cdpengine cache delete {identity}) or replace it"
            raise FileUnreadableError(f"entry {identity}", self.path, reason, hint) from None
        return attrs.evolve(entry, version=version)

    def decode_row(self, row: Row) -> CacheEntry:
        """Return the entry of a row, with its statistics. Raises the errors of `decode`."""
        entry = self.decode(*row[:4])
        return attrs.evolve(entry, statistics=statistics_of(row), expires_at=min(entry.expires_at, row[-1]))

    def _about(self, identity: str, version: int) -> str:
        return _json.encode_ascii([self.owner, identity, version])


def _before_query(form: str) -> str:
    return form.partition("#")[0].partition("?")[0]


def _host_of(head: str) -> str:
    return "/".join(head.split("/", 3)[:3])
