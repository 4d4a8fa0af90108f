"""Jobs on many browsers of many machines: functions of a page, distributed by Dask.

cluster         BrowserCluster: jobs and their results, for programs on trio
worker          BrowserWorker: a pool on each worker of Dask; `on_page`, for programs that use Dask directly
worker_jobs     one job on a worker
job_ledger      the scheduler's list of started jobs, so that unrepeatable jobs run at most once
sending         functions, items and results as bytes
dask_client     the connection to the scheduler
local_cluster   the cluster of a program without a scheduler
trio_thread, asyncio_thread   calls in both directions between trio and asyncio, which Dask uses

Names are imported on first use. `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
