"""Modules that `import cdpengine` loads: the engine, and nothing that only some of its users need."""

import subprocess
import sys
from functools import lru_cache

import pytest

DELAYED = ["cdp", "httpx", "rich", "click", "prompt_toolkit", "cattrs", "cdpengine.cli"]


@lru_cache
def loaded_by(statement: str) -> set[str]:
    """Return the names of all modules that a fresh interpreter has loaded after `statement`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def loaded_by_face() -> set[str]:
    """Return everything that is loaded once every public name has been used.

    Names are loaded on first use.
    """
    return loaded_by("import cdpengine\nfor name in cdpengine.__all__: getattr(cdpengine, name)")


@pytest.mark.parametrize("module", DELAYED)
def test_the_engine_does_not_import(module: str, loaded_by_face: set[str]) -> None:
    assert {"trio", "msgspec", "cdpengine._api.browser"} <= loaded_by_face
    assert module not in loaded_by_face


@pytest.mark.parametrize("module", DELAYED)
def test_the_package_alone_does_not_import(module: str) -> None:
    loaded = loaded_by("import cdpengine")
    assert "cdpengine" in loaded
    assert module not in loaded


@pytest.mark.parametrize("module", ["cdp", "httpx", "rich", "cattrs", "prompt_toolkit"])
def test_the_command_line_does_not_import_before_a_command_runs(module: str) -> None:
    loaded = loaded_by(
        "from cdpengine.cli.commands import commands\nfor name in commands.commands: commands.commands[name]"
    )
    assert "click" in loaded
    assert module not in loaded


def test_the_sans_io_core_imports_without_trio() -> None:
    loaded = loaded_by("import cdpengine._protocol.messages")
    assert "cdpengine._protocol.messages" in loaded
    assert not loaded & {"trio", "trio_websocket", "wsproto", "asyncio"}
