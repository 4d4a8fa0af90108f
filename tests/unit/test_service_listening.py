"""The service's address: a port in use is refused with one plain error."""

from __future__ import annotations

import socket

import pytest
from command_line import run_here

from cdpengine.service.serving import serve
from cdpengine.service.settings import ServiceSettings

# hypercorn leaves its own socket to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def test_a_port_in_use_is_refused_with_an_oserror() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            async with serve(ServiceSettings(token="x" * 40, port=taken.getsockname()[1])):
                pass


def test_the_command_names_the_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_here("serve", "--port", str(port))
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in done.stderr
    assert "Traceback" not in done.stderr
