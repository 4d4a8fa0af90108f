"""The command line: `cdpengine` and `python -m cdpengine`. Thin: parse, call the library, print.

Rule: exit status 0 when it was done, 1 when it failed, 2 when it was used wrongly, 130 on Ctrl-C, 143 on
SIGTERM, 129 on SIGHUP. What cdpengine raises on purpose is printed as one message; anything else is a bug and
keeps its traceback.
"""

from __future__ import annotations

from cdpengine.cli.main import main

__all__ = ["main"]
