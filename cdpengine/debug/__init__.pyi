from .cassettes import Cassette as Cassette
from .cassettes import cassette as cassette
from .faults import Fault as Fault
from .faults import Faults as Faults
from .faults import parse_fault as parse_fault
from .proxy_server import Proxy as Proxy
from .proxy_server import ProxyConnection as ProxyConnection
from .proxy_server import proxy as proxy
from .recorder import Recorder as Recorder
from .recorder import RecorderStatistics as RecorderStatistics
from .recorder import record as record
from .recording import Header as Header
from .recording import Line as Line
from .recording import Recording as Recording
from .recording import open_recording as open_recording
from .redact import Redactor as Redactor
from .replay_server import Replay as Replay
from .replay_server import replay as replay
from .wire_log import log_traffic as log_traffic

__all__: list[str]
