"""Chrome's sandbox works under the containers' seccomp profile without capabilities, and not without its
rules.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cdpengine._launch.find import find_browser

PROFILE = json.loads((Path(__file__).parents[2] / "deploy/seccomp.json").read_text("utf-8"))
NOBODY = 65534
NO_NEW_PRIVILEGES = 38  # PR_SET_NO_NEW_PRIVS
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


def confined_to(names: list[str]) -> Callable[[], None]:
    """Return a function that confines its process to these system calls, like a container runtime."""
    library = ctypes.util.find_library("seccomp")
    if library is None:
        pytest.skip("libseccomp is not installed")
    seccomp, libc = ctypes.CDLL(library), ctypes.CDLL(None)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
    seccomp.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p,
    ]  # fmt: skip
    seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
    allowed = seccomp.seccomp_init(ERRNO | PROFILE["defaultErrnoRet"])
    for name in names:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # the rest is for other machines
            assert seccomp.seccomp_rule_add_array(allowed, ALLOW, number, 0, None) == 0, name

    def confine() -> None:
        if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or seccomp.seccomp_load(allowed):
            os._exit(99)

    return confine


@pytest.mark.parametrize("without", [None, "chroot", "unshare"])
def test_the_sandbox_works_with_the_profile_alone(without: str | None, tmp_path: Path) -> None:
    names = [name for rule in PROFILE["syscalls"] for name in rule["names"] if name != without]
    assert len(names) > 300
    user = NOBODY if os.geteuid() == 0 else None
    folder = (
        Path("/tmp") / f"cdpengine-{tmp_path.name}-{os.getpid()}"
    )  # the user `nobody` cannot read pytest's folder
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    try:
        done = subprocess.run(
            [
                *(str(find_browser().path), "--headless=new", f"--user-data-dir={folder}/profile"),
                *("--dump-dom", "data:text/html,<p>it runs"),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=folder,
            env={"HOME": str(folder), "PATH": os.environ["PATH"]},
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            preexec_fn=confined_to(names),
        )
    finally:
        shutil.rmtree(folder)
    if without is None:
        assert "<p>it runs</p>" in done.stdout, done.stderr
        assert "No usable sandbox" not in done.stderr
    else:
        # Without these the test would not exercise Chrome's sandbox.
        assert "it runs" not in done.stdout
