"""The command line: `cdpengine` and `python -m cdpengine`. Thin: parse, call the library, print.

Rule: exit status 0 when it was done, 1 when it failed, 2 when it was used wrongly, 130 on Ctrl-C, 143 on
SIGTERM, 129 on SIGHUP. What cdpengine raises on purpose is printed as one message; anything else is a bug and
keeps its traceback. A command for the browser that stays (`cdpengine click e3`) is asked of its service, and loads
nothing else.
"""

import os
import sys

from cdpengine.shell.client import is_for_session, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["main"]


def main(arguments: "Sequence[str] | None" = None) -> "NoReturn":
    """Run one command and exit with its status. `arguments` are those after the program's name.

    The packages of the command line are optional: where one is missing, one line says how to install it.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if is_for_session(given):
        status = run(given)
        if arguments is None:
            os._exit(status)  # everything is written; the interpreter's own end takes longer than the command
        sys.exit(status)
    from cdpengine.errors import PackageMissingError, packages_named

    try:
        with packages_named():
            from cdpengine.cli.commands import run_command
    except PackageMissingError as error:
        sys.exit(f"Error: {error}")  # on standard error, with status 1
    run_command(arguments)
