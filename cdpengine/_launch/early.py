"""A browser that starts while its program is still being imported: for commands that load a URL.

Rule: `begin` starts it with the default options, and `take` hands it over to `start_browser`. Whatever happens in
between, `abandon` ends it. The ending signals are blocked until the program can handle them (`unblock_signals`).
If the program is killed, the browser ends because its pipe closes, and a later start removes its profile.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from cdpengine._launch.find import find_browser
from cdpengine._launch.flags import Machine, command_line
from cdpengine._launch.owned_folder import remove_profile
from cdpengine._launch.profile import Profile
from cdpengine.errors import EngineError

if TYPE_CHECKING:
    from cdpengine._launch.spawning import Spawned

_REMOVAL_DEADLINE = 5.0
_REMOVAL_PAUSE = 0.02
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@attrs.frozen
class EarlyBrowser:
    """A started browser with the default options, over a pipe."""

    executable: Path
    profile: Profile
    spawned: Spawned


_begun: EarlyBrowser | None = None


def begin() -> None:
    """Start the default browser. If that fails, do nothing: `start_browser` fails again and reports the reason."""
    global _begun  # noqa: PLW0603 - one program starts one browser early
    if sys.platform == "win32" or os.environ.get("CDPENGINE_TRANSPORT", "pipe") not in ("", "pipe"):
        return
    else:
        from cdpengine._launch.spawning import spawn

        _mask(signal.SIG_BLOCK)
        try:
            executable = find_browser().path
            profile = Profile.prepare(None)
        except (EngineError, OSError):
            return
        try:
            arguments = command_line(
                (),
                profile=profile.path,
                headless=True,
                transport="pipe",
                lifeline=True,
                machine=Machine.here(),
            )
            command = [str(executable.absolute()), *arguments]
            _begun = EarlyBrowser(executable, profile, spawn(command, profile.environment(os.environ)))
        except (OSError, ValueError):
            _remove(profile)


def take(executable: Path) -> EarlyBrowser | None:
    """Return the browser that `begin` started, once; None for another program. The caller owns it."""
    global _begun
    if _begun is None or _begun.executable != executable:
        return None
    taken, _begun = _begun, None
    return taken


def abandon() -> None:
    """Kill the browser if it was not taken, and remove its profile."""
    global _begun
    if _begun is None or sys.platform == "win32":
        return
    left, _begun = _begun, None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(left.spawned.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(left.spawned.pid, 0)
    for end in (left.spawned.to_browser, left.spawned.from_browser, left.spawned.output):
        os.close(end)
    _remove(left.profile)


def unblock_signals() -> None:
    """Deliver the ending signals again, also those that arrived meanwhile."""
    _mask(signal.SIG_UNBLOCK)


def _mask(how: int) -> None:
    if sys.platform != "win32":
        signal.pthread_sigmask(how, [getattr(signal, name) for name in _SIGNALS])


def _remove(profile: Profile) -> None:
    end = time.monotonic() + _REMOVAL_DEADLINE
    while remove_profile(profile.path) and time.monotonic() < end:
        time.sleep(_REMOVAL_PAUSE)
    if profile.owned is not None:
        profile.owned.release()
