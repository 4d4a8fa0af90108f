from .cluster import BrowserCluster as BrowserCluster
from .worker import BrowserWorker as BrowserWorker
from .worker import on_page as on_page
