from .faults import Fault as Fault
from .faults import Faults as Faults
from .faults import parse_fault as parse_fault
from .proxy_server import Proxy as Proxy
from .proxy_server import ProxyConnection as ProxyConnection
from .proxy_server import proxy as proxy
from .reading.recording import Recording as Recording
from .reading.recording import open_recording as open_recording
from .recording.recorder import Recorder as Recorder
from .recording.recorder import log_traffic as log_traffic
from .recording.recorder import record as record
from .recording.redact import Redactor as Redactor
from .recording.traffic_recorder import RecorderStatistics as RecorderStatistics
from .recording_format import Header as Header
from .recording_format import Line as Line
from .replaying.replay_server import Cassette as Cassette
from .replaying.replay_server import Replay as Replay
from .replaying.replay_server import cassette as cassette
from .replaying.replay_server import replay as replay

__all__: list[str]
