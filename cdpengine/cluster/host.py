"""The process that a local cluster runs in: `python -m cdpengine.cluster.host '{"workers": 2, "pages": 10}'`.

Rule: it writes the address of its scheduler as one line, and ends when its standard input does, which the system
closes when the program that started it ends, however that is. Everything listens on loopback. What Dask writes is
in the folder that it is given, which it removes at its end.
"""

from __future__ import annotations

import shutil
import signal
import sys

from cdpengine import _json

CONFIGURATION = {
    "distributed.worker.profile.enabled": False,  # it samples all threads each 10 ms
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.work-stealing-interval": "200ms",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.admin.system-monitor.gil.enabled": False,
}


def main() -> None:
    """Run a cluster until standard input ends."""
    # Here, as each worker loads this module too, and needs none of it.
    import dask.config
    from distributed import LocalCluster

    options = _json.decode_leniently(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started this one decides
    folder = options["folder"]
    dask.config.set({**CONFIGURATION, "temporary-directory": folder})
    try:
        with LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=options["workers"],
            threads_per_worker=options["pages"],
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            local_directory=folder,
            silence_logs="CRITICAL",  # what matters to the program is raised there
        ) as cluster:
            print(cluster.scheduler_address, flush=True)  # noqa: T201 - it is what this program is asked for
            sys.stdin.buffer.read()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
