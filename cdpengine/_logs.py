"""Loggers: every logger of the engine has one filter that makes foreign text safe; RepeatedWarning limits floods.

Rule: a module gets its logger from `get_logger`. Records may hold texts of pages, of servers and of peers; the
filter takes out of each what looks like a secret or was entered by the program, and escapes it, so that it is one
line and commands no terminal. It works on the record, so it holds for all handlers and costs nothing where a level
is off. Of a warning that may come for each message, the first ones are logged, then one in INTERVAL seconds with
the number that was passed over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Protocol
from weakref import ref

import trio

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import MARK, escape_lines, hide_secrets, shown

_TRACEBACK = "  | "
"""What each line of a traceback begins with: the message of an exception can hold lines that look like ours."""


def get_logger(name: str) -> logging.Logger:
    """Return the logger of that name, whose records are fit to be read."""
    logger = logging.getLogger(name)
    logger.addFilter(_make_fit)  # the same one is added once
    return logger


_HTTP_LOGGERS = (
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
)
_holding_back: ContextVar[bool] = ContextVar("cdpengine.holding_back", default=False)


def _is_not_ours(_record: logging.LogRecord) -> bool:
    return not _holding_back.get()


@contextmanager
def http_logs_held_back() -> Iterator[None]:
    """While the block runs, log nothing of what this task asks through httpx: it logs URLs and headers whole.

    What else the program asks through httpx is logged as ever.
    """
    for name in _HTTP_LOGGERS:
        logging.getLogger(name).addFilter(_is_not_ours)  # the same one is added once
    before = _holding_back.set(True)
    try:
        yield
    finally:
        _holding_back.reset(before)


class SecretSource(Protocol):
    """A holder of texts that the program entered, which no log may show."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts."""


_sources: tuple[ref[SecretSource], ...] = ()
"""Replaced as a whole, as other threads log meanwhile."""

_SHORTEST = 6
"""Characters from which on a secret is looked for: shorter ones are everywhere."""


def hide_secrets_of(source: SecretSource) -> None:
    """Hide the secrets of `source` in all logs for as long as it exists."""
    global _sources  # noqa: PLW0603 - as in logging, the loggers are the process's
    _sources = (*(each for each in _sources if each() is not None), ref(source))


def _hide_known(text: str) -> str:
    """Return a text without what the program entered, as it is or as `repr` writes it."""
    sources = (each() for each in _sources)
    known = {secret for source in sources if source is not None for secret in source.secrets}
    lines = {line for secret in known for line in (secret, *secret.splitlines())}
    written = {form for line in lines if len(line) >= _SHORTEST for form in (line, repr(line)[1:-1])}
    for form in sorted((each for each in written if each in text), key=len, reverse=True):
        text = text.replace(form, MARK)
    return text


def _make_fit(record: logging.LogRecord) -> bool:
    # The lines of the wire have the level DEBUG. They are redacted already, and too many to search each of them.
    fit = partial(_fit, search=record.levelno > logging.DEBUG)
    if record.args:
        record.args = (
            {key: fit(value) for key, value in record.args.items()}
            if isinstance(record.args, Mapping)
            else tuple(map(fit, record.args))
        )
    elif not isinstance(record.msg, str):
        record.msg = str(fit(record.msg))
    if record.exc_info and record.exc_info[0] is not None and not record.exc_text:
        # Formatters take this text where there is one.
        text = _hide_known(logging.Formatter().formatException(record.exc_info))
        text = escape_lines(hide_secrets(text))
        record.exc_text = "\n".join(_TRACEBACK + line for line in text.split("\n"))
    return True


def _fit(value: object, *, search: bool) -> object:
    if value is None or isinstance(value, int | float):
        return value
    text = _hide_known(str(value)) if search else str(value)
    return text if isinstance(value, EngineError) else shown(text)


FIRST = 5
"""Warnings that are logged at once, whenever they come."""

INTERVAL = 1.0
"""Seconds between two of the others."""


class Pace:
    """Says which of many equal reports are logged. Pure: the time is passed to it, in seconds."""

    def __init__(self, first: int = FIRST, interval: float = INTERVAL) -> None:
        self.total = 0
        self._first = first
        self._interval = interval
        self._told_at = 0.0
        self._passed_over = 0

    def take(self, now: float) -> int | None:
        """Count one report. Returns how many were passed over before it since the last that was logged.

        None: this one is passed over too.
        """
        self.total += 1
        if self.total > self._first and now - self._told_at < self._interval:
            self._passed_over += 1
            return None
        self._told_at = now
        return self.take_rest()

    def take_rest(self) -> int:
        """Return how many were passed over since the last that was logged, and count from 0 again."""
        rest, self._passed_over = self._passed_over, 0
        return rest


class RepeatedWarning:
    """One kind of warning: `text` is a format of the logging module. `clock` gives seconds."""

    def __init__(
        self,
        logger: logging.Logger,
        text: str,
        *,
        level: int = logging.WARNING,
        clock: Callable[[], float] = trio.current_time,
    ) -> None:
        self._logger = logger
        self._text = text
        self._level = level
        self._clock = clock
        self._pace = Pace()

    @property
    def total(self) -> int:
        """How many there were, logged or not."""
        return self._pace.total

    def tell(self, *args: object, error: BaseException | None = None) -> None:
        """Tell it, or count it. `args` are those of the format; the traceback of `error` goes with it."""
        passed_over = self._pace.take(self._clock())
        if passed_over is None:
            return
        if passed_over:
            text = f"{self._text} (%d more warnings like this one were passed over since the last)"
            self._logger.log(self._level, text, *args, passed_over, exc_info=error)
        else:
            self._logger.log(self._level, self._text, *args, exc_info=error)

    def tell_rest(self, where: str) -> None:
        """Tell how many were passed over since the last one; `where` says whose warnings they were."""
        if rest := self._pace.take_rest():
            text = "%s: %d more warnings like the last were passed over: %s"
            self._logger.log(self._level, text, where, rest, self._text.replace("%s", "..."))
