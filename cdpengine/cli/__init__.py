"""The command line: `cdpengine` and `python -m cdpengine`. Thin: parse, call the library, print.

Rule: the exit status is 0 for success, 1 for a failure, 2 for wrong usage, 130 for Ctrl-C, 143 for SIGTERM, 129
for SIGHUP. Errors of cdpengine are printed as one message; any other exception is a bug and keeps its
traceback. A command for the running browser (`cdpengine click e3`) is sent to its service and loads nothing
else.
"""

import os
import sys

from cdpengine.shell.client import (
    INTERRUPTED,
    LostError,
    NoValuesError,
    TerminalError,
    TooLongError,
    ask,
    check_output,
    is_for_session,
    read_input,
    show,
    split_verb,
    starts_browser,
    wants_help,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["main", "run_in_session"]


def main(arguments: "Sequence[str] | None" = None) -> "NoReturn":
    """Run one command and exit with its status. `arguments` are those after the program's name.

    The packages of the command line are optional: if one is missing, one line explains how to install it.
    """
    args = sys.argv[1:] if arguments is None else arguments
    if is_for_session(args):
        status = run_in_session(args)
        if arguments is None:
            os._exit(
                status
            )  # all output is written, and the interpreter's exit takes longer than the command
        sys.exit(status)
    if arguments is not None or not starts_browser(args):
        _run_command(arguments)
    from cdpengine._launch import early

    try:
        early.begin()
        _run_command(arguments)
    finally:
        early.abandon()
        early.unblock_signals()


def _run_command(arguments: "Sequence[str] | None") -> "NoReturn":
    from cdpengine.errors import PackageMissingError, packages_named

    try:
        with packages_named():
            from cdpengine.cli.commands import run_command
    except PackageMissingError as error:
        sys.exit(f"Error: {error}")  # on standard error, with status 1
    run_command(arguments)


def run_in_session(arguments: "Sequence[str]") -> int:
    """Perform one command of a session, print its output, and return its exit status.

    Everything but asking a running service needs further modules.
    """
    try:
        if wants_help(arguments):
            from cdpengine.act.commands.usage import verb_help

            return show(0, b"", verb_help(split_verb(arguments)[0]).encode())
        stdin = b""
        try:
            check_output(arguments)
            stdin = read_input(arguments)
            return show(*ask(arguments, stdin))
        except (OSError, LostError, NoValuesError, TerminalError, TooLongError) as error:
            from cdpengine.shell.starting import report, start_and_ask

            no_service = isinstance(error, (FileNotFoundError, ConnectionRefusedError))
            if no_service or (isinstance(error, LostError) and not error.began):
                return start_and_ask(arguments, stdin)
            return report(arguments, error)
    except KeyboardInterrupt:
        return INTERRUPTED
