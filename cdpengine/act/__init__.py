"""Acting by requests: what agents and services send, and what they are answered.

requests   one class for each kind of request, as data; `parse_request` makes one of JSON
response   what a request is answered with
dispatch   the only way in: in the process, over HTTP and MCP, in the shell

Names are loaded when they are first used. They stand in `__init__.pyi`, once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
