"""The process of a local cluster: `python -m cdpengine.cluster.host '{"workers": 2, "pages": 10}'`.

Rule: it prints the address of its scheduler as one line, and ends when its standard input closes, which the system
does when the parent program ends in any way. Everything listens on loopback. Dask writes its files to the given
folder, which is removed at the end.
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
    # Imported here, because each worker imports this module without needing Dask's configuration.
    import dask.config
    from distributed import LocalCluster

    options = _json.decode_leniently(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent program decides
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
            silence_logs="CRITICAL",  # the program raises the relevant errors
        ) as cluster:
            print(cluster.scheduler_address, flush=True)  # noqa: T201 - the output of this program
            sys.stdin.buffer.read()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
