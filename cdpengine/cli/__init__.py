"""The command line: `cdpengine` and `python -m cdpengine`. Thin: parse, call the library, print.

Rule: the exit status is 0 for success, 1 for a failure, 2 for wrong usage, 130 for Ctrl-C, 143 for SIGTERM, 129
for SIGHUP. Errors of cdpengine are printed as one message; any other exception is a bug and keeps its
traceback. A command for the running browser (`cdpengine click e3`) is sent to its service and loads nothing
else.
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

    The packages of the command line are optional: if one is missing, one line explains how to install it.
    """
    args = sys.argv[1:] if arguments is None else arguments
    if is_for_session(args):
        status = run(args)
        if arguments is None:
            os._exit(
                status
            )  # all output is written, and the interpreter's exit takes longer than the command
        sys.exit(status)
    from cdpengine.errors import PackageMissingError, packages_named

    try:
        with packages_named():
            from cdpengine.cli.commands import run_command
    except PackageMissingError as error:
        sys.exit(f"Error: {error}")  # on standard error, with status 1
    run_command(arguments)
