from .foreign_hosts import is_foreign as is_foreign
from .limits import HostLimits as HostLimits
from .manners import Manners as Manners
from .schedule import HostSchedule as HostSchedule
from .seen_urls import TRACKING_PARAMETERS as TRACKING_PARAMETERS
from .seen_urls import SeenUrls as SeenUrls
from .seen_urls import canonicalize_url as canonicalize_url

__all__: list[str]
