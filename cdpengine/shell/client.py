"""The thin client: sends the command line to the background service, and prints the answer.

Rule: with a running service, a command parses nothing and loads no further modules: `re`, `json` and `socket`
alone would take more than half of the interpreter's start time. Without a service, it loads the other modules,
which check the command and start a service.

The request: a line `cdpengine-shell 1 ARGUMENTS STDIN` with the sizes of both in bytes, and then both. The
arguments are separated by NUL, and begin with the folder, the session and the encoding of the output. The
answer: a line `taken` when the service accepts the command, a line `STATUS ERRORS OUTPUT` with sizes at its
end, and then both. A client that disconnects earlier cancels its command.

The socket, the lock and the log are in a private folder of the user.
"""

import _socket
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PROTOCOL = b"cdpengine-shell 1"
TAKEN = b"taken\n"
LONGEST = 32 * 2**20
"""Maximum size of a command with its standard input, in bytes."""

INTERRUPTED = 130
UNREACHABLE = 4
"""Exit status without a service: it could not be started, or it ended during a command."""

VERBS = frozenset(
    {
        "act", "back", "cache-clear", "cache-delete", "cache-list", "cache-lookup", "cache-refresh",
        "cache-replay", "cache-report", "cache-restore", "cache-scenarios", "cache-show", "cache-stats",
        "cache-versions", "check", "clear-cookies", "clear-storage", "click", "close", "close-tab",
        "command", "console", "cookies", "dialog", "download", "drag", "eval", "extract", "file-chooser",
        "fill", "find", "focus-tab", "forward", "heap-snapshot", "highlight", "hover", "messages",
        "metrics", "new-tab", "open", "press", "recover", "reload", "requests", "resize", "response-body",
        "scroll", "scroll-into-view", "search", "select", "sessions", "set-cookies", "set-storage",
        "start-learning", "start-measurement", "start-recording", "stop-learning", "stop-measurement",
        "stop-recording", "storage", "tabs", "type", "uncheck", "upload", "wait",
    }
)  # fmt: skip
"""Commands for the page of a session. Commands in `SHARED` use that page only if they name no page to load."""

SHARED = frozenset({"snapshot", "screenshot", "pdf"})

_READ_STDIN = frozenset({"act", "cache-lookup", "eval", "fill", "type"})
_READ_VALUES = frozenset({"cache-replay", "start-learning"})
"""Verbs that read values of variables from a file or standard input: `--values FILE`, `--values -`."""

_FLAGS = frozenset(
    {"--json", "--interactive", "--compact", "--diff", "--ignored", "--unredacted", "--force", "--keep-arguments"}
)  # fmt: skip
"""Options of `snapshot` without a value."""


class LostError(Exception):
    """The service ended before it answered. `began`: it had begun the command."""

    def __init__(self, began: bool) -> None:
        super().__init__(began)
        self.began = began


class NoValuesError(Exception):
    """The file of `--values` is unreadable."""


class TooLongError(Exception):
    """A command exceeds the maximum size."""


def is_for_session(arguments: "Sequence[str]") -> bool:
    """Return whether a command uses the page of a session instead of a separate browser."""
    verb, rest = split_verb(arguments)
    if verb in VERBS:
        return True
    if verb not in SHARED or "--help" in rest or "-h" in rest:
        return False
    if verb == "snapshot":
        return not _has_bare(rest)
    return not any("://" in each or each.startswith(("-o", "--output", "about:", "data:")) for each in rest)


def verb_first(arguments: "Sequence[str]") -> "list[str]":
    """Return the arguments with the verb at the beginning. `--session NAME` and `--json` may precede it."""
    verb, rest = split_verb(arguments)
    return [verb, *rest]


def split_verb(arguments: "Sequence[str]") -> "tuple[str, list[str]]":
    """Return the verb, or "", and the other arguments."""
    at = 0
    while at < len(arguments):
        each = arguments[at]
        if each == "--session":
            at += 2
        elif each == "--json" or each.startswith("--session="):
            at += 1
        elif each.startswith("-"):
            return "", []
        else:
            return each, [*arguments[:at], *arguments[at + 1 :]]
    return "", []


def _has_bare(arguments: "Sequence[str]") -> bool:
    """Return whether one of the arguments is neither an option nor the value of one."""
    is_value = False
    for at, each in enumerate(arguments):
        if is_value:
            is_value = False
        elif not each.startswith("-"):
            return True
        elif each == "--":
            return at + 1 < len(arguments)
        else:
            is_value = "=" not in each and each not in _FLAGS
    return False


def wants_help(arguments: "Sequence[str]") -> bool:
    """Return whether the command asks for help. With other arguments, "-h" may be a text or a key."""
    before = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    return "--help" in before or (len(arguments) == 2 and arguments[1] == "-h")


def ask(arguments: "Sequence[str]", stdin: bytes) -> "tuple[int, bytes, bytes]":
    """Send a command to the running service; return its exit status, its errors and its output.

    Raises FileNotFoundError or ConnectionRefusedError without a service, LostError and TooLongError.
    """
    if sys.platform == "win32":
        raise OSError("Windows has no sockets of Unix for Python")
    folder = os.stat(runtime_folder())
    if folder.st_uid != os.getuid() or folder.st_mode & 0o077:
        raise PermissionError(0, "others can use this folder", runtime_folder())
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(socket_path())
        try:
            connection.sendall(_pack(arguments, stdin))
        except (BrokenPipeError, ConnectionResetError):
            raise LostError(False) from None
        return _receive(connection)
    finally:
        connection.close()


def _pack(arguments: "Sequence[str]", stdin: bytes) -> bytes:
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        folder = "/"
    session = os.environ.get("CDPENGINE_SESSION", "")
    fields = [folder, session, getattr(sys.stdout, "encoding", "") or "utf-8", *arguments]
    packed = b"\0".join(map(os.fsencode, fields))
    if len(packed) + len(stdin) > LONGEST:
        raise TooLongError
    return b"%s %d %d\n%s%s" % (PROTOCOL, len(packed), len(stdin), packed, stdin)


def _receive(connection: _socket.socket) -> "tuple[int, bytes, bytes]":
    answer = bytearray()
    try:
        while piece := connection.recv(1 << 18):
            answer += piece
    except ConnectionResetError:
        pass  # treated as the end: the received bytes show the progress
    if not answer.startswith(TAKEN):
        raise LostError(False)
    head, separator, body = bytes(answer[len(TAKEN) :]).partition(b"\n")
    if not separator:
        raise LostError(True)
    status, errors, output = map(int, head.split())
    if len(body) != errors + output:
        raise LostError(True)
    return status, body[:errors], body[errors:]


def read_input(arguments: "Sequence[str]") -> bytes:
    """Return the command's input: the file of `--values`, or standard input if an argument is "-".

    Raises NoValuesError.
    """
    return _read_values(arguments) or _read_stdin(arguments)


def _read_stdin(arguments: "Sequence[str]") -> bytes:
    if "-" not in arguments:
        return b""
    before = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    return sys.stdin.buffer.read() if "-" in before and split_verb(arguments)[0] in _READ_STDIN else b""


def _read_values(arguments: "Sequence[str]") -> bytes:
    """Return the content of the file of `--values`; "-" is standard input."""
    if split_verb(arguments)[0] not in _READ_VALUES:
        return b""
    before = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    path = ""
    for at, each in enumerate(before):
        if each == "--values" and at + 1 < len(before):
            path = before[at + 1]
        elif each.startswith("--values="):
            path = each.removeprefix("--values=")
    if path in ("", "-"):
        return sys.stdin.buffer.read() if path else b""
    try:
        with open(path, "rb") as file:
            return file.read(LONGEST)
    except OSError as error:
        raise NoValuesError(error.strerror or "it cannot be read") from None


def show(status: int, err: bytes, out: bytes) -> int:
    """Print the output of a command, and return its exit status."""
    try:
        for stream, text in ((sys.stderr, err), (sys.stdout, out)):
            if text:
                stream.flush()
                stream.buffer.write(text)
                stream.buffer.flush()
    except BrokenPipeError:
        # The reader of the output has ended, as with `| head`. Python would report that again when it flushes
        # at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return status or 1
    return status


# --- the files of the background service ----------------------------------------------------------------------


def state_folder() -> str:
    """Return the user's folder for persistent state of the command line."""
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or os.path.join(os.path.expanduser("~"), "AppData", "Local")
    else:
        root = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(root, "cdpengine")


def refs_path() -> str:
    """Return the path of the file with the highest ref number."""
    return os.path.join(state_folder(), "shell-refs")


def runtime_folder() -> str:
    """Return the folder of the service's files, which are needed only while it runs."""
    root = os.environ.get("XDG_RUNTIME_DIR")
    return os.path.join(root, "cdpengine") if root else os.path.join(state_folder(), "run")


def socket_path() -> str:
    """Return the path of the service's socket."""
    return os.path.join(runtime_folder(), "shell.sock")


def lock_path() -> str:
    """Return the path of the file that the service locks while it runs."""
    return os.path.join(runtime_folder(), "shell.lock")


def log_path() -> str:
    """Return the path of the log: the standard error of the latest service."""
    return os.path.join(runtime_folder(), "shell.log")
