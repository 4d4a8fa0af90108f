"""The command line: `cdpengine` and `python -m cdpengine`. Thin: parse, call the library, print.

Rule: exit status 0 when it was done, 1 when it failed, 2 when it was used wrongly, 130 on Ctrl-C, 143 on
SIGTERM, 129 on SIGHUP. What cdpengine raises on purpose is printed as one message; anything else is a bug and
keeps its traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from cdpengine.errors import PackageMissingError, packages_named

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its status. `arguments` are those after the program's name.

    The packages of the command line are optional: where one is missing, one line says how to install it.
    """
    try:
        with packages_named():
            from cdpengine.cli.commands import run_command
    except PackageMissingError as error:
        sys.exit(f"Error: {error}")  # on standard error, with status 1
    run_command(arguments)
