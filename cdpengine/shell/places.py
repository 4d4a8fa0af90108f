"""Where the background service is found: its socket, its lock and its log, in a folder that is the user's alone.

Rule: paths are made with `os.path` alone: the thin client reads them, and must not load `pathlib`.
"""

import os
import sys


def state_folder() -> str:
    """Return where the command line keeps what lasts: in the user's folder for state."""
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or os.path.join(os.path.expanduser("~"), "AppData", "Local")
    else:
        root = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(root, "cdpengine")


def refs_path() -> str:
    """Return the path of the file that keeps the highest number of a ref."""
    return os.path.join(state_folder(), "shell-refs")


def runtime_folder() -> str:
    """Return where the service's files are, which mean nothing once it has ended."""
    root = os.environ.get("XDG_RUNTIME_DIR")
    return os.path.join(root, "cdpengine") if root else os.path.join(state_folder(), "run")


def socket_path() -> str:
    """Return the path of the socket that the service listens on."""
    return os.path.join(runtime_folder(), "shell.sock")


def lock_path() -> str:
    """Return the path of the file that the service holds a lock on as long as it lives."""
    return os.path.join(runtime_folder(), "shell.lock")


def log_path() -> str:
    """Return the path of what the latest service wrote to its standard error."""
    return os.path.join(runtime_folder(), "shell.log")
