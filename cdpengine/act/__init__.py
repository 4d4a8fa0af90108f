"""Acting by requests: the requests of agents and services, and the responses to them.

requests   one class for each kind of request, as data; `parse_request` makes one from JSON
response   the response to a request
dispatch   the only way to perform a request: in the process, over HTTP and MCP, in the shell

Names are loaded when they are first used. `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
