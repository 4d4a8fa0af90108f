"""Starting the background service, and the errors of commands without one.

Rule: a command is checked before the service starts. The client that starts the service waits until it listens. If
several clients start at the same time, one starts the service, and all use it.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cdpengine.act import ActResponse, Failure
from cdpengine.act.commands.parsing import Command, Typed, parse, wants_json
from cdpengine.errors import EngineError, packages_named
from cdpengine.errors.texts import escape_lines
from cdpengine.shell import client
from cdpengine.shell.printing import DONE, Printed, print_error, print_failure, print_response
from cdpengine.shell.without_session import answer_without_session

_STARTING = 30.0
"""Maximum time for a service to listen, in seconds, including the end of an earlier one."""

_ATTEMPTS = 5
"""Maximum number of attempts to send a command to a service that ends before accepting it."""

_LONGEST_LOG_LINE = 300


def start_and_ask(arguments: Sequence[str], stdin: bytes) -> int:
    """Perform a command while no service runs: check it, start the service, and send it."""
    command = parse_typed(client.verb_first(arguments), stdin)
    if isinstance(command, Printed):
        return say(command, arguments)
    if command.verb.name == "close":
        return say(print_response(ActResponse(kind="", ok=True), as_json=command.as_json), arguments)
    if command.verb.name == "sessions":
        none = ActResponse(kind="", ok=True, result=[])
        return say(print_response(none, as_json=True) if command.as_json else Printed(DONE), arguments)
    printed = answer_without_session(command)
    if printed is not None:
        return say(printed, arguments)
    for _ in range(_ATTEMPTS):
        try:
            start(command)
            return client.show(*client.ask(arguments, stdin))
        except (FileNotFoundError, ConnectionRefusedError):
            continue
        except client.LostError as lost:
            if lost.began:
                return report(arguments, lost)
        except (EngineError, OSError, client.TooLongError) as error:
            return report(arguments, error)
    return report(arguments, FileNotFoundError("it ended immediately"))


def parse_typed(words: Sequence[str], stdin: bytes, url: str | None = None) -> Command | Printed:
    """Return the command, or the output of its error. `words` begin with the verb, and lack the `url` to load."""
    typed = Typed(
        arguments=words,
        folder=_folder(),
        session=os.environ.get("CDPENGINE_SESSION", ""),
        stdin=stdin.decode("utf-8", "replace"),
        url=url,
    )
    try:
        return parse(typed)
    except EngineError as error:
        hint = f"cdpengine {words[0]} --help shows its arguments and options."
        return print_error(error, hint, kind="", as_json=wants_json(words))


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return "/"


def start(command: Command) -> None:
    """Start the service, and return when it listens, or has ended.

    Raises OSError if it cannot be started, PackageMissingError, and TimeoutError.
    """
    with packages_named():
        import hypercorn  # noqa: F401 - what the service needs is missed here, where it can be said
        import prometheus_client  # noqa: F401
        import starlette  # noqa: F401
    folder = Path(client.runtime_folder())
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    reading, writing = os.pipe()
    try:
        log = os.open(client.log_path(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            process = subprocess.Popen(
                [*_program(), "--ready", str(writing), *_options(command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",  # no folder stays in use because of the service
                pass_fds=(writing,),
                start_new_session=True,  # so that a Ctrl-C in this terminal does not reach it
            )
        finally:
            os.close(log)
        os.close(writing)
        writing = -1
        ready, _, _ = select.select([reading], [], [], _STARTING)
        if not ready:
            raise TimeoutError(f"it did not listen within {_STARTING:g} s")
        if not os.read(reading, 1):
            raise ChildProcessError(f"it ended with status {process.wait(_STARTING)}")
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)


def _program() -> list[str]:
    # Run the same code as this process, and import nothing from the command's folder.
    root = str(Path(__file__).resolve().parents[2])
    run = f"import sys; sys.path.insert(0, {root!r}); from cdpengine.shell.background import main; main()"
    return [sys.executable, "-P", "-c", run]


def _options(command: Command) -> list[str]:
    options = []
    if "CDPENGINE_IDLE" in os.environ:
        options += ["--idle", os.environ["CDPENGINE_IDLE"]]
    if "--headful" in command.options:
        options.append("--headful")
    for name in ("--browser", "--viewport", "--endpoint", "--user-data-dir", "--trace"):
        if isinstance(value := command.options.get(name), str):
            options += [name, value]
    return options


# --- errors --------------------------------------------------------------------------------------------------


def report(arguments: Sequence[str], error: Exception) -> int:
    """Report why a command failed or did not finish, and return the exit status."""
    kind = "serviceUnavailable"
    if isinstance(error, client.TooLongError):
        kind, hint = "invalidArgument", "Split the command, or shorten its input."
        message = f"the command has more than {client.LONGEST} bytes, with its standard input"
    elif isinstance(error, client.NoValuesError):
        kind, hint = "invalidArgument", 'Use a file with JSON such as {"user": "ada"}; - is standard input.'
        message = f"the file of --values cannot be read: {error}"
    elif isinstance(error, client.TerminalError):
        kind, hint = "invalidArgument", "Send the output to a pipe or a file."
        message = "--raw writes text of a page, which could control a terminal"
    elif isinstance(error, client.LostError):
        message = "the background service ended during the command"
        hint = "Check which actions were done. The next command starts another service and browser."
    elif isinstance(error, EngineError):
        message, hint = str(error), "Install the package that the message names."
    elif isinstance(error, PermissionError):
        message = f"cannot connect to the background service: {_reason(error)}"
        folder = client.runtime_folder()
        hint = f"{folder} must be private: chmod 700, or set XDG_RUNTIME_DIR to another folder."
    elif "path too long" in str(error):
        path = client.socket_path()
        message = f"cannot connect to the background service: the socket path {path} is too long"
        hint = "Set XDG_RUNTIME_DIR to a folder with a shorter path."
    else:
        message = f"the background service could not be started: {_reason(error)}{_log()}"
        hint = f"Run cdpengine doctor to find the cause. The service's log is {client.log_path()}."
    failure = Failure(kind=kind, message=message, hint=hint, retryable=False)
    response = ActResponse(kind="", ok=False, error=failure)
    return say(print_failure(failure, response=response, as_json=wants_json(arguments)), arguments)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__


def _log() -> str:
    """Return the last line of the service's log, or "" for an empty log."""
    try:
        lines = Path(client.log_path()).read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return f" ({escape_lines(lines[-1])[-_LONGEST_LOG_LINE:]})" if lines else ""


def say(printed: Printed, arguments: Sequence[str]) -> int:
    """Print the output of a command, and return its exit status."""
    encoding = getattr(sys.stdout, "encoding", "") or "utf-8"
    return client.show(*printed.encode(encoding, as_json=wants_json(arguments)))
