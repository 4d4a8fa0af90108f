"""`cdpengine doctor`: checks of the environment, with advice.

Rule: a check does not raise for faults that it finds; it returns a Finding with advice. "warn" means that it works
now but may fail later, "fail" that it does not work.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import attrs
import click
import trio

from cdpengine.cli.options import Failed, Source, browser_options
from cdpengine.cli.output import print_json, say
from cdpengine.errors import EngineError, LaunchFailedError

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(short_help="Check the environment, and give advice.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@partial(browser_options, recordings=2)
def doctor(as_json: bool, executable: str | None, endpoint: str | None) -> None:
    """Check Python, the packages, the browser, its sandbox, and one round trip by each transport.

    Each line is ok, or warn or fail with advice. The exit status is 1 if any check fails.

    \b
    Examples:
      cdpengine doctor
      cdpengine doctor --browser /opt/chrome/chrome --json
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    source = Source(executable, endpoint)
    findings: list[Finding] = []

    def report(finding: Finding) -> None:
        findings.append(finding)
        if not as_json:
            _print(finding.status, finding.subject, finding.detail, finding.advice)

    trio.run(check_all, source, report)
    failed = sum(finding.status == "fail" for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": findings})
    elif failed:
        say(f"{failed} of {len(findings)} checks failed.", err=True)
    if failed:
        raise Failed


def _print(status: str, subject: str, detail: str, advice: str) -> None:
    mark = f"{status:<5}"
    colour = COLOURS[status]
    say(
        f"{mark} {subject:<20} {detail}",
        paint=lambda line: click.style(line[: len(mark)], colour) + line[len(mark) :],
    )
    if advice:
        say(f"{'':<26} -> {advice}")


# --- the checks ----------------------------------------------------------------------------------------------

OLDEST_PYTHON = (3, 11)
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - only looked at
SMALL_SHARED_MEMORY = 256 << 20
"""Recommended minimum in bytes. Docker's default is 64 MB, and pages with large pictures crash there."""
SMALL_TEMPORARY_SPACE = 200 << 20
"""Recommended minimum in bytes. A new profile takes a few MB, a session with a cache takes more."""

ROUND_TRIPS = 100


@attrs.frozen
class Finding:
    """The result of one check. `advice` is empty if no action is needed."""

    subject: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    advice: str = ""


async def check_all(source: Source, report: Callable[[Finding], None]) -> None:
    """Run all checks that apply to `source`, and report each finding immediately."""
    report(check_python())
    for finding in check_packages():
        report(finding)
    if source.endpoint is not None:
        report(await check_round_trip("running browser", source))
        return
    found = await check_browser(source.executable)
    report(found)
    report(check_sandbox())
    report(check_shared_memory())
    report(check_temporary_space())
    if found.status == "fail":
        return
    report(await check_round_trip("websocket round trip", source, "websocket"))
    if os.name == "posix":
        report(await check_round_trip("pipe round trip", source, "pipe"))


def check_python() -> Finding:
    """Check the Python version."""
    detail = f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return Finding("python", "fail", detail, "Install Python 3.11 or newer.")
    return Finding("python", "ok", detail)


_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")

_EVERYTHING = "all"
"""The extra that includes all others."""


def check_packages() -> Iterator[Finding]:
    """Check the requirements of cdpengine in its metadata; those of extras are optional."""
    from importlib import metadata

    versions: list[str] = []
    try:
        requirements = metadata.requires("cdpengine") or []
    except metadata.PackageNotFoundError:
        yield Finding("packages", "warn", "cdpengine is not installed", "python -m pip install --editable .")
        return
    extras: dict[str, str] = {}  # requirement -> the first extra with it, "" if it is always required
    for requirement in requirements:
        specifier, _, marker = requirement.partition(";")
        extra = _EXTRA.search(marker)
        if extra is None or extra[1] != _EVERYTHING:  # the other extras have the same packages
            extras.setdefault(specifier.strip(), "" if extra is None else extra[1])
    for specifier, extra_name in extras.items():
        name = re.split(r"[^A-Za-z0-9._-]", specifier, maxsplit=1)[0]
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            if extra_name:
                what = f"cdpengine[{extra_name}]"
                yield Finding(
                    name, "warn", f"not installed; {what} includes it", f"python -m pip install '{what}'"
                )
            else:
                yield Finding(
                    name,
                    "fail",
                    f"not installed (required: {specifier})",
                    f"python -m pip install '{specifier}'",
                )
    yield Finding("packages", "ok", ", ".join(versions))


async def check_browser(executable: str | None) -> Finding:
    """Find the browser that `launch` would start, and its version."""
    from cdpengine._launch.find import find_browser, read_version

    try:
        found = find_browser(executable)
    except LaunchFailedError as error:
        return Finding("browser", "fail", error.reason, error.advice)
    except EngineError as error:
        return Finding(
            "browser", "fail", str(error), "Choose another one with --browser or CDPENGINE_BROWSER."
        )
    version = await read_version(found)
    detail = f"{found.product} ({found.channel}), {found.path}"
    if not version:
        return Finding("browser", "warn", f"{detail}, reports no version", f"Try: {found.path} --version")
    return Finding("browser", "ok", f"{detail}, version {version}")


def check_sandbox() -> Finding:
    """Check whether the browser's sandbox can work."""
    if sys.platform != "linux":
        return Finding("sandbox", "ok", f"that of {platform.system()}")
    if os.geteuid() == 0:
        return Finding(
            "sandbox",
            "warn",
            "off: Chrome has no sandbox for root, so it is started with --no-sandbox",
            "Run as another user before you open untrusted pages.",
        )
    for setting, blocking, remedy in _NAMESPACE_SETTINGS:
        try:
            value = Path(setting).read_text().strip()
        except OSError:
            continue  # this kernel does not have the setting
        if value == blocking:
            return Finding(
                "sandbox",
                "warn",
                f"user namespaces are restricted ({setting} is {value})",
                f"If Chrome does not start: {remedy}",
            )
    return Finding("sandbox", "ok", "user namespaces are available")


_NAMESPACE_SETTINGS = (
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "use a packaged Chrome, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)
"""Kernel settings that disable the sandbox: (file, blocking value, remedy)."""


def check_shared_memory() -> Finding:
    """Check /dev/shm, through which Chrome's processes share pictures."""
    if sys.platform != "linux":
        return Finding("shared memory", "ok", "not limited by a file system here")
    try:
        total = shutil.disk_usage(SHARED_MEMORY).total
    except OSError as error:
        return Finding(
            "shared memory",
            "warn",
            f"{SHARED_MEMORY}: {error.strerror}",
            "Mount a tmpfs at /dev/shm, or pages may crash.",
        )
    if total < SMALL_SHARED_MEMORY:
        return Finding(
            "shared memory",
            "warn",
            f"{SHARED_MEMORY} has {_size(total)}",
            "Large pages may crash: docker run --shm-size=1g, or launch with --disable-dev-shm-usage.",
        )
    return Finding("shared memory", "ok", f"{SHARED_MEMORY} has {_size(total)}")


def check_temporary_space() -> Finding:
    """Check the folder for temporary profiles."""
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    detail = f"{folder} has {_size(free)} free"
    if not os.access(folder, os.W_OK):
        return Finding(
            "temporary folder", "fail", f"{folder} is not writable", "Set TMPDIR to a writable folder."
        )
    if free < SMALL_TEMPORARY_SPACE:
        return Finding(
            "temporary folder", "warn", detail, "Free some space there, or set TMPDIR to a larger one."
        )
    return Finding("temporary folder", "ok", detail)


async def check_round_trip(
    subject: str, source: Source, transport: Literal["websocket", "pipe"] | None = None
) -> Finding:
    """Start the browser (or connect to it) and time a few commands that it answers itself."""
    block = source.open(transport=transport)
    start = time.perf_counter()
    try:
        async with block as browser:
            up = time.perf_counter() - start
            times = []
            for _ in range(ROUND_TRIPS):
                start = time.perf_counter()
                version = await browser.session.call("Browser.getVersion")
                times.append(time.perf_counter() - start)
    except EngineError as error:
        return Finding(subject, "fail", f"{type(error).__name__}: {error}", _advice(source))
    median = sorted(times)[ROUND_TRIPS // 2] * 1000
    return Finding(subject, "ok", f"{version['product']}, up in {up:.2f} s, {median:.2f} ms a command")


def _advice(source: Source) -> str:
    if source.endpoint is not None:
        return "Start Chrome with --remote-debugging-port=9222 and pass its address, http://127.0.0.1:9222."
    return "Run the browser with --headless --dump-dom about:blank to see its output, or choose another one."


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.0f} TB"
