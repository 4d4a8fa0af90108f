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
        "command", "console", "cookies", "delete-state", "dialog", "download", "drag", "emulate", "eval",
        "evaluate", "extract", "file-chooser", "fill", "find", "focus-tab", "forward", "get",
        "heap-snapshot", "highlight", "hover", "is", "load-state", "markdown", "messages", "metrics",
        "new-tab", "open", "pdf", "press", "recover", "reload", "requests", "resize", "response-body",
        "route", "routes", "save-state", "screenshot", "scroll", "scroll-into-view", "search", "select",
        "sessions", "set-cookies", "set-storage", "snapshot", "start-learning", "start-measurement",
        "start-recording", "states", "stop-learning", "stop-measurement", "stop-recording", "storage",
        "tabs", "text", "type", "uncheck", "unroute", "upload", "wait",
    }
)  # fmt: skip
"""Commands for the page of a session. Those in `LOADING` use it only without a URL and without --endpoint."""

LOADING = frozenset(
    {
        "eval", "evaluate", "extract", "markdown", "pdf", "screenshot", "snapshot", "text",
    }
)  # fmt: skip
"""Commands that can load a URL in a browser of their own."""

_FLAGS = frozenset(
    {
        "--compact", "--css-page-size", "--details", "--diff", "--force", "--full-page", "--ignored",
        "--interactive", "--json", "--keep-arguments", "--labels", "--landscape", "--main-only",
        "--no-background", "--omit-background", "--outline", "--print-background", "--raw", "--unredacted",
        "screenshot --refs",
    }
)  # fmt: skip
"""Options of `LOADING` without a value: of all these commands, or of the named one."""

_READ_STDIN = frozenset({"act", "cache-lookup", "eval", "evaluate", "fill", "type"})
_READ_VALUES = frozenset({"cache-replay", "start-learning"})
"""Verbs that read values of variables from a file or standard input: `--values FILE`, `--values -`."""


class LostError(Exception):
    """The service ended before it answered. `began`: it had begun the command."""

    def __init__(self, began: bool) -> None:
        super().__init__(began)
        self.began = began


class NoValuesError(Exception):
    """The file of `--values` is unreadable."""


class TerminalError(Exception):
    """--raw would write text of a page to a terminal."""


class TooLongError(Exception):
    """A command exceeds the maximum size."""


def is_for_session(arguments: "Sequence[str]") -> bool:
    """Return whether a command uses the page of a session instead of a separate browser."""
    verb, rest = split_verb(arguments)
    if verb not in LOADING or wants_help(arguments):
        return verb in VERBS
    url, has_endpoint = _find_url(verb, rest)
    return url is None and not has_endpoint


def split_url(arguments: "Sequence[str]") -> "tuple[str | None, list[str]]":
    """Return the URL that a command loads, or None, and the verb with the other arguments."""
    verb, rest = split_verb(arguments)
    at, _ = _find_url(verb, rest)
    return (None, [verb, *rest]) if at is None else (rest[at], [verb, *rest[:at], *rest[at + 1 :]])


def starts_browser(arguments: "Sequence[str]") -> bool:
    """Return whether a command is so simple that it is valid, and starts a browser with the default options."""
    verb, rest = split_verb(arguments)
    allowed = _SIMPLE.get(verb, 0)
    if (
        not 0 < len(rest) <= allowed
        or any(each.startswith("-") for each in rest)
        or len(arguments) > allowed + 1
    ):
        return False
    host = rest[0].removeprefix("https://").removeprefix("http://").partition("/")[0].partition(":")[0]
    is_web = (
        rest[0].startswith(("http://", "https://"))
        and host.isascii()
        and host.replace(".", "").replace("-", "").isalnum()
    )
    wants_files = any(os.environ.get(f"CDPENGINE_{name}") for name in ("RECORD", "TRACE"))
    return (rest[0] == "about:blank" or is_web) and len(rest) == allowed and not wants_files


_SIMPLE = {"eval": 2, "evaluate": 2, "markdown": 1, "snapshot": 1, "text": 1}
"""Commands of `LOADING` with the number of their arguments, the URL included."""


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


def _find_url(verb: str, arguments: "Sequence[str]") -> "tuple[int | None, bool]":
    """Return the index of the URL, which is the first positional argument, and whether --endpoint is given."""
    first: int | None = None
    has_endpoint = is_value = False
    for at, each in enumerate(arguments):
        if is_value:
            is_value = False
        elif each == "--":
            first = at + 1 if first is None else first
            break
        elif each.startswith("--"):
            name, equals, _ = each.partition("=")
            has_endpoint = has_endpoint or name == "--endpoint"
            is_value = not equals and name not in _FLAGS and f"{verb} {name}" not in _FLAGS
        elif each.startswith("-o") and verb in _WRITING:
            is_value = each == "-o"
        elif first is None:
            first = at
    found = first is not None and first < len(arguments) and is_url(arguments[first])
    return first if found else None, has_endpoint


_WRITING = frozenset({"screenshot", "pdf"})
"""Commands of `LOADING` with the option -o FILE."""

_SCHEMES = frozenset({"about", "blob", "data", "file", "javascript", "view-source"})
"""Schemes of URLs without "//"."""


def is_url(text: str) -> bool:
    """Return whether an argument is a URL to load, and no selector, script or name of a file."""
    scheme, colon, rest = text.partition(":")
    if not colon or len(scheme) < 2:
        return False
    return scheme.lower() in _SCHEMES or (
        rest.startswith("//") and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()
    )


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


def check_output(arguments: "Sequence[str]") -> None:
    """Raise TerminalError if a command would write text of a page to a terminal without escapes."""
    before = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    if "--raw" in before and split_verb(arguments)[0] in _WITH_RAW and sys.stdout.isatty():
        raise TerminalError


_WITH_RAW = frozenset({"eval", "evaluate"})


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


def states_folder() -> str:
    """Return the folder of saved states."""
    return os.path.join(state_folder(), "states")


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
