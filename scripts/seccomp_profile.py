"""The seccomp profile of the containers, for Docker and Kubernetes, on standard output.

Rule: the system calls are those that systemd gives to services (`@system-service`), without the keyring and
without calls that look into other processes, and with those that Chrome's sandbox is made of: new namespaces are
made with `clone` and `unshare`, which Docker's own profile refuses to containers without CAP_SYS_ADMIN, and
`chroot` empties what a renderer sees. What is not listed fails with ENOSYS, so that libraries take what they took
before it was there.

Usage: python scripts/seccomp_profile.py > deploy/seccomp.json
It needs systemd-analyze, whose version decides which calls there are.
"""

from __future__ import annotations

import json
import subprocess

BASE = "@system-service"
WITHOUT_SETS = ("@keyring",)
WITHOUT = (
    "io_uring_enter", "io_uring_register", "io_uring_setup", "kcmp", "name_to_handle_at", "open_by_handle_at",
    "personality", "process_vm_readv", "process_vm_writev", "setns", "userfaultfd",
)  # fmt: skip
FOR_THE_SANDBOX = ("chroot", "clone", "clone3", "seccomp", "unshare")
FOR_CHROME = ("pkey_alloc", "pkey_free", "pkey_mprotect", "sched_getaffinity", "sched_setaffinity")
# What a container's runtime still does between the loading of the profile and the start of the program.
FOR_THE_RUNTIME = ("capset", "close_range", "pidfd_getfd", "prctl", "setgroups", "setresgid", "setresuid")
_ENOSYS = 38


def read_sets() -> dict[str, list[str]]:
    """Return systemd's sets of system calls, each with its members, which may be sets."""
    listed = subprocess.run(
        ["systemd-analyze", "--no-pager", "syscall-filter"],  # noqa: S607 - the system's own
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    sets: dict[str, list[str]] = {}
    members: list[str] = []
    for line in listed.splitlines():
        name = line.strip().removeprefix("# ")
        if line.startswith("@"):
            members = sets.setdefault(name, [])
        elif line.startswith("    ") and not line.strip().startswith("#"):
            members.append(name)
    return sets


def expand(name: str, sets: dict[str, list[str]]) -> set[str]:
    """Return the calls of a set, or the one of that name."""
    if not name.startswith("@"):
        return {name}
    return set().union(*(expand(each, sets) for each in sets[name]))


def make_profile(sets: dict[str, list[str]]) -> dict[str, object]:
    """Return the profile."""
    names = expand(BASE, sets) - set().union(*(expand(each, sets) for each in WITHOUT_SETS)) - {*WITHOUT}
    names |= {*FOR_THE_SANDBOX, *FOR_CHROME, *FOR_THE_RUNTIME}
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": _ENOSYS,
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
        ],
        "syscalls": [{"names": sorted(names), "action": "SCMP_ACT_ALLOW"}],
    }


if __name__ == "__main__":
    print(json.dumps(make_profile(read_sets()), indent=2))
