"""The reason of a failed browser start, from the browser's own output (recorded) and the table of obstacles."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdpengine._launch.obstacles import explain
from cdpengine.errors import LaunchFailedError

LOG = "[3015:3015:1126/201632.570564:ERROR:"
AFTER = "[3075:3075:0100/000000.836668:ERROR:content/zygote/zygote_linux.cc:662] write: Broken pipe (32)"
BUS = f"{LOG}dbus/bus.cc:405] Failed to connect to the bus: Could not parse server address"

OUTPUTS = {
    "no X server": (
        (
            "/usr/bin/chromium: 9: [: 25276510208: unexpected operator",
            f"{LOG}ui/ozone/platform/x11/ozone_platform_x11.cc:257] Missing X server or $DISPLAY",
            f"{LOG}ui/aura/env.cc:253] The platform failed to initialize.  Exiting.",
            AFTER,
        ),
        "it has no display: Missing X server or $DISPLAY",
        "headless=True",
    ),
    "no Wayland": (
        (
            "error: XDG_RUNTIME_DIR is invalid or not set in the environment.",
            f"{LOG}wayland_connection.cc:210] Failed to connect to Wayland display: No such file or directory (2)",
        ),
        "it has no display: Failed to connect to Wayland display: No such file or directory (2)",
        "xvfb-run",
    ),
    "another computer": (
        (
            (
                f"{LOG}chrome/browser/process_singleton_posix.cc:367] The profile appears to be in use by another "
                "Chromium process (12345) on another computer (web-1). Chromium has locked the profile"
            ),
            "Error: Can't open display: ",
        ),
        "the profile /p is in use by another browser on another computer: The profile appears",
        "Close process 12345 on web-1. If it is gone, delete SingletonLock",
    ),
    "handed over": (
        ("Opening in existing browser session.",),
        "the profile /p is in use by another browser: Opening in existing",
        "user_data_dir",
    ),
    "a long folder": (
        ("[1:1:1126/201639.482767:FATAL:process_singleton_posix.cc:315] Socket path too long: /tmp/xxx/S",),
        "the path of its temporary folder is too long: Socket path too long: /tmp/xxx/S",
        "TMPDIR",
    ),
    "no temporary folder": (
        (f"{LOG}process_singleton_posix.cc:1046] Failed to create socket directory.", AFTER),
        "its temporary folder cannot be used: Failed to create socket directory",
        "TMPDIR",
    ),
    "a profile that cannot be written": (
        (
            (
                f"{LOG}message_box_dialog.cc:200] Unable to show message box: Failed To Create Data Directory - "
                "Chromium cannot read and write to its data directory:"
            ),
            "/p",
            BUS,
        ),
        "its profile folder cannot be used: Unable to show message box: Failed To Create Data Directory",
        "Let this user write to /p",
    ),
    "in use on this computer": (
        (
            f"{LOG}process_singleton_posix.cc:340] Failed to create /p/SingletonLock: File exists (17)",
            f"{LOG}chrome_main_delegate.cc:624] Failed to create a ProcessSingleton for your profile directory.",
        ),
        "the profile /p is in use by another browser: Failed to create /p/SingletonLock: File exists (17)",
        "user_data_dir",
    ),
    "a library": (
        (
            (
                "/opt/chrome/chrome: error while loading shared libraries: libnss3.so: cannot open shared object file: "
                "No such file or directory"
            ),
        ),
        "a shared library is missing: /opt/chrome/chrome: error while loading shared libraries: libnss3.so",
        "libnss3.so",
    ),
    "an old library": (
        (
            "/opt/chrome/chrome: /lib/libc.so.6: version `GLIBC_2.38' not found (required by /opt/chrome/chrome)",
        ),
        "a shared library is too old, or of another system: ",
        "packages",
    ),
    "another processor": (
        ("/usr/bin/wrapper: 3: exec: /opt/chrome/chrome: Exec format error",),
        "it is built for another processor: ",
        "This machine is ",
    ),
    "a snap": (
        ("Command '/usr/bin/chromium-browser' requires the chromium snap to be installed.",),
        "the snap package is missing: ",
        "executable",
    ),
    "root": (
        (f"{LOG}zygote_host_impl_linux.cc:103] Running as root without --no-sandbox is not supported.",),
        "it refuses to run as root with its sandbox: Running as root without --no-sandbox is not supported",
        "another user",
    ),
    "no sandbox": (
        (
            "[9:9:1126/1.2:FATAL:zygote_host_impl_linux.cc(126)] No usable sandbox! If you are running on Ubuntu 23.10+",
            "#0 0x55d0c8",
        ),
        "its sandbox is refused: No usable sandbox!",
        "user namespaces",
    ),
    "no namespaces": (
        (
            "Failed to move to new namespace: PID namespaces supported, but failed: errno = Operation not permitted",
        ),
        "its sandbox is refused: Failed to move",
        "user namespaces",
    ),
    "a full disk": (
        (f"{LOG}a.cc:1] Could not write /p/x: No space left on device (28)",),
        "the disk is full: ",
        "space",
    ),
    "an unknown fatal error": (
        (BUS, f"{LOG}a.cc:1] A first error", "[1:1:1126/1.2:FATAL:b.cc:2] The cause", AFTER),
        "it ended: The cause",
        ".output",
    ),
    "an unknown error": (
        (BUS, f"{LOG}a.cc:1] A first error", f"{LOG}a.cc:2] A second", AFTER),
        "it ended: A first error",
        ".output",
    ),
    "noise alone": ((BUS, AFTER), "it ended", ""),
    "nothing": ((), "it ended", ""),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_line_with_the_reason_comes_first(name: str) -> None:
    lines, reason, advice = OUTPUTS[name]
    why = explain(lines, profile=Path("/p"), executable=Path("/nowhere"), exit_code=1, generic="it ended")
    assert why.reason.startswith(reason)
    assert advice in why.advice
    assert bool(advice) == bool(why.advice)
    error = LaunchFailedError(
        executable="/c", reason=why.reason, exit_code=1, output=lines, advice=why.advice
    )
    assert str(error).startswith(f"/c did not start: {reason}")


def test_a_script_that_ends_is_named(tmp_path: Path) -> None:
    script = tmp_path / "chrome"
    script.write_text("#!/bin/sh\n")
    lines = ("starting", "no licence")
    given = {"profile": tmp_path, "executable": script, "generic": "it ended"}
    assert explain(lines, exit_code=3, **given).reason == (  # type: ignore[arg-type]
        "it is a script that ended without starting a browser: no licence"
    )
    assert explain(lines, exit_code=-9, **given).reason == "it ended"  # type: ignore[arg-type]
    (tmp_path / "SingletonLock").symlink_to("host-1-4711")
    locked = explain(("Opening in existing browser session.",), exit_code=0, **given)  # type: ignore[arg-type]
    assert locked.advice.startswith("Close process 4711 on host-1")
