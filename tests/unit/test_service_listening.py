"""The service's address: a port in use is refused with one plain error."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path


def test_the_command_names_the_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "cdpengine",
                "serve",
                "--port",
                str(port),
                "--token-file",
                tmp_path / "token",
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in done.stderr
    assert "Traceback" not in done.stderr
