"""Loggers: one filter makes foreign strings safe in all loggers of the engine; RepeatedWarning limits floods.

Rule: a module gets its logger from `get_logger`. Records may contain strings of pages, servers and peers. The
filter redacts secrets and strings that the program entered, and escapes the rest, so that a record is one line and
cannot control a terminal. It changes the record, so it works for all handlers and costs nothing if a level is off.
Of repeated warnings, the first ones are logged, then one in INTERVAL seconds with the number of suppressed ones.
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
"""Prefix of each line of a traceback: an exception's message can contain lines that look like log lines."""


def get_logger(name: str) -> logging.Logger:
    """Return the logger of that name, with the filter."""
    logger = logging.getLogger(name)
    logger.addFilter(_make_fit)  # adding the same filter again has no effect
    return logger


_HTTP_LOGGERS = (
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
)
_suppressing: ContextVar[bool] = ContextVar("cdpengine.suppressing", default=False)


def _is_not_ours(_record: logging.LogRecord) -> bool:
    return not _suppressing.get()


@contextmanager
def http_logs_suppressed() -> Iterator[None]:
    """Suppress httpx's logs of this task's requests during the block: httpx logs URLs and headers unredacted.

    Requests of other tasks are still logged.
    """
    for name in _HTTP_LOGGERS:
        logging.getLogger(name).addFilter(_is_not_ours)  # adding the same filter again has no effect
    before = _suppressing.set(True)
    try:
        yield
    finally:
        _suppressing.reset(before)


class SecretSource(Protocol):
    """A holder of the strings that the program entered, which no log may show."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The strings to redact."""


_sources: tuple[ref[SecretSource], ...] = ()
"""Replaced as a whole, because other threads may log meanwhile."""

_SHORTEST = 6
"""Minimum length of a secret that is searched for, in characters. Shorter strings occur everywhere."""


def hide_secrets_of(source: SecretSource) -> None:
    """Hide the secrets of `source` in all logs while the object exists."""
    global _sources  # noqa: PLW0603 - loggers are global in the process too
    _sources = (*(each for each in _sources if each() is not None), ref(source))


def _hide_known(text: str) -> str:
    """Return a string without the entered strings, in plain form or in the form of `repr`."""
    sources = (each() for each in _sources)
    known = {secret for source in sources if source is not None for secret in source.secrets}
    lines = {line for secret in known for line in (secret, *secret.splitlines())}
    written = {form for line in lines if len(line) >= _SHORTEST for form in (line, repr(line)[1:-1])}
    for form in sorted((each for each in written if each in text), key=len, reverse=True):
        text = text.replace(form, MARK)
    return text


def _make_fit(record: logging.LogRecord) -> bool:
    # The wire's lines have the level DEBUG. They are already redacted, and too many to search.
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
        # Formatters use this string if it is set.
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
"""Number of warnings that are logged in any case."""

INTERVAL = 1.0
"""Seconds between two later warnings."""


class Pace:
    """Decides which of many equal reports are logged. Pure: the caller passes the time, in seconds."""

    def __init__(self, first: int = FIRST, interval: float = INTERVAL) -> None:
        self.total = 0
        self._first = first
        self._interval = interval
        self._logged_at = 0.0
        self._suppressed = 0

    def take(self, now: float) -> int | None:
        """Count one report. Return how many reports were suppressed since the last logged one.

        Return None to suppress this one.
        """
        self.total += 1
        if self.total > self._first and now - self._logged_at < self._interval:
            self._suppressed += 1
            return None
        self._logged_at = now
        return self.take_rest()

    def take_rest(self) -> int:
        """Return how many reports were suppressed since the last logged one, and reset the count."""
        rest, self._suppressed = self._suppressed, 0
        return rest


class RepeatedWarning:
    """One kind of warning: `text` is a format of the logging module. `clock` returns seconds."""

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
        """Number of warnings, logged or not."""
        return self._pace.total

    def log(self, *args: object, error: BaseException | None = None) -> None:
        """Log or count a warning.

        `args` are the arguments of the format; the traceback of `error` is logged too.
        """
        suppressed = self._pace.take(self._clock())
        if suppressed is None:
            return
        if suppressed:
            text = f"{self._text} (%d more warnings like this one were suppressed since the last)"
            self._logger.log(self._level, text, *args, suppressed, exc_info=error)
        else:
            self._logger.log(self._level, self._text, *args, exc_info=error)

    def log_suppressed(self, where: str) -> None:
        """Log how many warnings were suppressed since the last logged one. `where` names their source."""
        if rest := self._pace.take_rest():
            text = "%s: %d more warnings like the last were suppressed: %s"
            self._logger.log(self._level, text, where, rest, self._text.replace("%s", "..."))
