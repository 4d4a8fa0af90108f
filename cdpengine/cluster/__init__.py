"""Many browsers on many machines: jobs as functions of a page, given out by Dask.

cluster         BrowserCluster: jobs and their results, for programs on trio
worker          BrowserWorker: a pool on each worker of Dask; `on_page`, for programs that use Dask themselves
worker_jobs     what a worker does with one job
job_ledger      what the scheduler knows of jobs that began, so that none is done twice that may not be
sending         functions, items and results as bytes
dask_client     the connection to the scheduler
local_cluster   the cluster of a program that names no scheduler
trio_thread, asyncio_thread   each way between asyncio, which Dask is on, and trio

Names are loaded when they are first used. They stand in `__init__.pyi`, once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
