"""The command group, and the end of each command: its exit status, its last message, and its reaction to signals.

Rule: only this module turns errors into messages and exit statuses; the commands let them pass. Exceptions are the
commands that perform a request, whose responses contain the errors (`own_browser.py`). On Ctrl-C, SIGTERM or
SIGHUP, the whole command is cancelled in trio and unwinds: recordings get their last line, the browser ends, its
profile is removed. If trio is not running, the signal is raised as an exception. A second signal does not
interrupt that; a third one ends the process immediately. Ignored signals (nohup, background jobs) stay ignored.
"""

from __future__ import annotations

import atexit
import contextlib
import difflib
import gc
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

import click
import trio

from cdpengine._launch import early
from cdpengine._launch.ending_signals import ENDING_SIGNALS, Wishes, cancel_main_task
from cdpengine._version import __version__
from cdpengine.act.commands.other_shells import name_ours
from cdpengine.cli.options import Failed
from cdpengine.cli.output import say_lines
from cdpengine.errors import (
    ActionSyntaxError,
    EngineError,
    EvaluationTimeoutError,
    InvalidArgumentError,
    missing_package,
    shortage_of,
)
from cdpengine.errors.texts import escape_line, hide_secrets
from cdpengine.shell.client import LOADING, VERBS, split_verb

DONE = 0
FAILED = 1
USED_WRONGLY = 2
TIMED_OUT = 3  # an evaluation timed out; a script that throws has another status
INTERRUPTED = 130  # 128 + SIGINT, as in shells; 143 and 129 are for SIGTERM and SIGHUP


_WHERE = {
    "bench": "bench:bench",
    "cache": "cache:cache",
    "codegen": "codegen:codegen",
    "demo": "demo:demo",
    "doctor": "doctor:doctor",
    "har": "page_files:har",
    "map": "map:map_",
    "mcp": "acting:mcp",
    "protocol": "protocol:protocol",
    "proxy": "proxy:proxy",
    "record": "record:record",
    "recording": "recordings.commands:recording",
    "repl": "repl:repl",
    "run": "acting:run",
    "serve": "acting:serve",
    "step-trace": "steps:step_trace",
    "trace": "page_files:trace",
}
"""The module of each command in this folder, and its name there."""

_OF_RECORDINGS = frozenset({"diff", "export", "replay", "show", "stats"})
"""Commands of `recording` that `trace` accepts too, because other tools call a recording a trace."""


class _Loaded(MutableMapping[str, click.Command]):
    """The commands by name. Each is loaded on first use, because most commands need few modules."""

    def __init__(self) -> None:
        self._commands: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._commands:
            module, _, place = _WHERE[name].partition(":")
            self._commands[name] = getattr(import_module(f"cdpengine.cli.{module}"), place)
        return self._commands[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._commands[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError("commands cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(_WHERE | self._commands)

    def __len__(self) -> int:
        return len(_WHERE | self._commands)


class _Commands(click.Group):
    """The command group. Its help also lists the commands for a URL and for the running browser."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command. For an unknown name, the error suggests the most likely command.

        `trace stats FILE` and the like read a recording: `recording stats FILE`. `trace view FILE` is
        `step-trace view FILE`. A URL is never such a word.
        """
        if args[0] == "trace" and len(args) > 1 and args[1] in _OF_RECORDINGS:
            args = ["recording", *args[1:]]
        elif args[:2] == ["trace", "view"]:
            args = ["step-trace", *args[1:]]
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            known = [*self.commands, *VERBS]
            similar = difflib.get_close_matches(args[0], known, n=1, cutoff=0.7)
            suggestion = name_ours(args) or (similar[0] if similar else "")
            advice = f" Did you mean {suggestion!r}?" if suggestion else ""
            raise click.UsageError(f"No such command {args[0]!r}.{advice}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, and below them the commands for a URL and for the running browser."""
        from cdpengine.act.commands.verbs import TABLE

        super().format_commands(ctx, formatter)
        for title, loads in (
            ("For a URL, or the page of the running browser", True),
            ("For the page of the running browser", False),
        ):
            with formatter.section(title):
                formatter.write_dl([(verb.name, verb.meaning) for verb in TABLE if verb.loads is loads])


@click.group(
    cls=_Commands,
    commands=_Loaded(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="cdpengine")
def commands() -> None:
    """Read and control Chrome from the shell: one page, one command, one answer.

    `cdpengine open URL` starts a browser that keeps running for the last commands below, until `cdpengine close`.
    Each command that loads a URL starts a separate browser: the one named by --browser or the environment
    variable CDPENGINE_BROWSER, or the first installed one. It is headless, has a temporary profile and ends
    with the command.

    Exit status: 0 success, 1 failure, 2 wrong usage, 3 evaluation timeout, 4 no background service; 130,
    143 or 129 ended by Ctrl-C, SIGTERM or SIGHUP, after an orderly end: recordings are complete, the
    browser ended, its profile removed. A second signal does not interrupt that; a third ends the command.
    """


def run_command(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its status. `arguments` are those after the program's name; None: sys.argv."""
    status = run_interruptible(partial(_run, arguments))
    if arguments is None:
        gc.freeze()  # Python would search all modules for garbage at its exit, which takes 80 ms or more
    sys.exit(status)


def _run(arguments: Sequence[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if split_verb(words)[0] in LOADING:
            from cdpengine.cli.own_browser import run_with_browser

            return run_with_browser(words)
        status = commands.main(words, prog_name="cdpengine", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        say_lines(error.format_message())
        return USED_WRONGLY
    except click.ClickException as error:
        # The message quotes arguments: file names, and URLs with passwords.
        output, message = io.StringIO(), error.format_message()
        error.show(output)
        text = output.getvalue().rstrip("\n").replace(message, escape_line(hide_secrets(message)))
        say_lines(text, err=True)
        return error.exit_code
    except Failed as failed:
        return TIMED_OUT if isinstance(failed.__cause__, EvaluationTimeoutError) else FAILED
    except (InvalidArgumentError, ActionSyntaxError) as error:
        say_lines(f"Error: {error}", err=True)
        return USED_WRONGLY
    except EngineError as error:
        say_lines(f"Error: {error}", err=True)
        return TIMED_OUT if isinstance(error, EvaluationTimeoutError) else FAILED
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has ended, as with `| head`. Python would report that again when it flushes
        # at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        # Without system resources, imports and trio's loop fail too, before any code of the command.
        lack = shortage_of(error) or missing_package(error)
        if lack is None:
            raise
        say_lines(f"Error: {lack}", err=True)
        return FAILED
    return status if isinstance(status, int) else DONE


SIGNALLED = 128
"""Offset between a signal's number and the exit status."""


class Ended(BaseException):
    """A signal requests the end of the command. Raised if trio is not running; SIGINT raises KeyboardInterrupt."""


class _Interruption:
    """Handles signals while a command runs."""

    def __init__(self) -> None:
        self.wishes = Wishes()
        self.is_over = False
        self._taken: dict[int, Any] = {}

    def install(self) -> None:
        """Handle the signals that would end this process."""
        for number in (signal.SIGINT, *ENDING_SIGNALS):
            handler = signal.getsignal(number)
            if handler in (signal.SIG_DFL, signal.default_int_handler):
                self._taken[number] = handler
                signal.signal(number, self._handle)

    def ignore(self) -> None:
        """Ignore the signals from now on."""
        for number in self._taken:
            signal.signal(number, signal.SIG_IGN)

    def uninstall(self) -> None:
        """Restore the previous handlers."""
        for number, handler in self._taken.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if not self.wishes.take(number) or self.is_over:
            return
        try:
            trio.lowlevel.current_trio_token().run_sync_soon(cancel_main_task)
        except trio.RunFinishedError:
            return  # trio is already ending; the exit status has the result
        except RuntimeError:  # trio is not running
            raise (KeyboardInterrupt if number == signal.SIGINT else Ended) from None


def run_interruptible(run: Callable[[], int]) -> int:
    """Run a command in the main thread. Return its exit status: 128 + the signal's number if a signal ended it."""
    interruption = _Interruption()
    interruption.install()
    early.unblock_signals()
    status = 0
    try:
        status = run()
    except BaseException as error:
        if interruption.wishes.first is None:
            interruption.uninstall()
            raise
        if not _is_interruption(error):
            traceback.print_exception(error)
    if interruption.wishes.first is None:
        # A signal may end the process now: only the flush is missing. An error here occurs again, and is
        # reported, when Python exits.
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        interruption.uninstall()
        return status
    # From here on no signal may end the process with another status. At exit, Python restores handlers but keeps
    # ignored signals. Until then the third signal still counts, in case a thread blocks the exit.
    interruption.is_over = True
    atexit.register(interruption.ignore)
    _flush()
    return SIGNALLED + interruption.wishes.first


def _is_interruption(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_interruption(each) for each in error.exceptions)
    return isinstance(error, trio.Cancelled | KeyboardInterrupt | Ended | click.Abort)


def _flush() -> None:
    """Flush the output. Output for a closed terminal is lost, which is no failure."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError):  # it was closed
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
