"""The files of the background service: socket, lock and log, in a private folder of the user.

Rule: this module uses only `os.path`, because the thin client imports it and must not load `pathlib`.
"""

import os
import sys


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
