"""The command group, and how every command ends: its exit status and its last message.

Rule: only here are errors turned into messages and exit statuses; the commands let them pass.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import NoReturn

import click

from cdpengine._version import __version__
from cdpengine.cli.bench import bench
from cdpengine.cli.content import markdown, text
from cdpengine.cli.demo import demo
from cdpengine.cli.doctor import doctor
from cdpengine.cli.evaluate import evaluate
from cdpengine.cli.har import har
from cdpengine.cli.interruption import run_interruptible
from cdpengine.cli.options import Failed
from cdpengine.cli.output import say_lines
from cdpengine.cli.pdf import pdf
from cdpengine.cli.protocol import protocol
from cdpengine.cli.proxy import proxy
from cdpengine.cli.repl import repl
from cdpengine.cli.screenshot import screenshot
from cdpengine.cli.snapshot import snapshot
from cdpengine.cli.trace import trace
from cdpengine.cli.trace_page import trace_page
from cdpengine.errors import (
    EngineError,
    EvaluationTimeoutError,
    InvalidArgumentError,
    missing_package,
    shortage_of,
)
from cdpengine.errors.foreign import escape_line
from cdpengine.errors.secrets import hide_secrets

DONE = 0
FAILED = 1
USED_WRONGLY = 2
TIMED_OUT = 3  # of an evaluation: told apart from a script that threw
INTERRUPTED = 130  # 128 + SIGINT, what shells give and expect; 143 and 129 are those of SIGTERM and SIGHUP


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="cdpengine")
def commands() -> None:
    """See and drive Chrome from the shell: one page, one command, one answer.

    The browser is the one named by --browser or the environment variable CDPENGINE_BROWSER, or else the first
    one that is installed; it is started headless with a temporary profile and ends with the command.

    Exit status: 0 done, 1 failed, 2 used wrongly, 3 an evaluation ran out of time; 130, 143 or 129 ended by
    Ctrl-C, SIGTERM or SIGHUP, with everything taken down in order: recordings whole, the browser ended, its
    profile removed. A second signal does not disturb that; a third ends the command on the spot.
    """


for command in (
    bench,
    demo,
    doctor,
    snapshot,
    text,
    markdown,
    evaluate,
    har,
    screenshot,
    pdf,
    trace_page,
    proxy,
    protocol,
    repl,
    trace,
):
    commands.add_command(command)


def run_command(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its status. `arguments` are those after the program's name."""
    sys.exit(run_interruptible(partial(_run, arguments)))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        status = commands.main(arguments, prog_name="cdpengine", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        say_lines(error.format_message())
        return USED_WRONGLY
    except click.ClickException as error:
        # It quotes what was given: file names, and URLs with passwords.
        shown, message = io.StringIO(), error.format_message()
        error.show(shown)
        text = shown.getvalue().rstrip("\n").replace(message, escape_line(hide_secrets(message)))
        say_lines(text, err=True)
        return error.exit_code
    except Failed as failed:
        return TIMED_OUT if isinstance(failed.__cause__, EvaluationTimeoutError) else FAILED
    except InvalidArgumentError as error:
        say_lines(f"Error: {error}", err=True)
        return USED_WRONGLY
    except EngineError as error:
        say_lines(f"Error: {error}", err=True)
        return TIMED_OUT if isinstance(error, EvaluationTimeoutError) else FAILED
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output left, as `| head` does. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        # Where the system lacks something, modules and trio's own loop fail too, before anything of ours runs.
        lack = shortage_of(error) or missing_package(error)
        if lack is None:
            raise
        say_lines(f"Error: {lack}", err=True)
        return FAILED
    return status if isinstance(status, int) else DONE
