"""Loggers: every logger of the engine, each with one filter that makes what is foreign fit to be read.

Rule: a module gets its logger from `get_logger`. What it logs may hold texts of pages, of servers and of peers;
the filter takes the secrets out of each, and escapes it, so that it is one line and commands no terminal. It works
on the record, so it holds for all handlers, and costs nothing where a level is off. What a library logs of our
requests is held back.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from cdpengine.errors.foreign import escape_lines
from cdpengine.errors.root import EngineError
from cdpengine.errors.secrets import hide_secrets
from cdpengine.errors.words import shown

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


def _make_fit(record: logging.LogRecord) -> bool:
    if record.args:
        record.args = (
            {key: _fit(value) for key, value in record.args.items()}
            if isinstance(record.args, Mapping)
            else tuple(map(_fit, record.args))
        )
    elif not isinstance(record.msg, str):
        record.msg = str(_fit(record.msg))
    if record.exc_info and record.exc_info[0] is not None and not record.exc_text:
        # Formatters take this text where there is one.
        text = escape_lines(hide_secrets(logging.Formatter().formatException(record.exc_info)))
        record.exc_text = "\n".join(_TRACEBACK + line for line in text.split("\n"))
    return True


def _fit(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    return str(value) if isinstance(value, EngineError) else shown(str(value))
