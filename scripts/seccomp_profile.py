"""Print the seccomp profile of the containers, for Docker and Kubernetes.

Rule: the system calls are those of systemd's `@system-service` set, without the keyring and without calls that
inspect other processes. Chrome's sandbox needs further calls: `clone` and `unshare` create namespaces, which
Docker's profile refuses to containers without CAP_SYS_ADMIN, and `chroot` empties a renderer's view of the files.
Other calls fail with ENOSYS, so that libraries fall back to older calls.

Usage: python scripts/seccomp_profile.py > deploy/seccomp.json
It needs systemd-analyze, whose version determines the known calls.
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
# Calls of the container's runtime between loading the profile and starting the program.
FOR_THE_RUNTIME = ("capset", "close_range", "pidfd_getfd", "prctl", "setgroups", "setresgid", "setresuid")
_ENOSYS = 38


def read_sets() -> dict[str, list[str]]:
    """Return systemd's sets of system calls. Members may be sets."""
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
    """Return the calls of a set, or the single call with that name."""
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
