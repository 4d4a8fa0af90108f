"""What `import cdpengine` brings in: the engine, and nothing that only some of its users need."""

import subprocess
import sys

import pytest

DELAYED = ["cdp", "httpx", "rich", "click", "prompt_toolkit", "cattrs", "cdpengine.cli"]


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
def loaded_by_package() -> set[str]:
    return loaded_by("import cdpengine")


@pytest.mark.parametrize("module", DELAYED)
def test_the_package_does_not_import(module: str, loaded_by_package: set[str]) -> None:
    assert "trio" in loaded_by_package
    assert module not in loaded_by_package


@pytest.mark.parametrize("module", ["cdp", "httpx", "rich", "cattrs", "prompt_toolkit"])
def test_the_command_line_does_not_import_before_a_command_runs(module: str) -> None:
    loaded = loaded_by("import cdpengine.cli")
    assert "click" in loaded
    assert module not in loaded


@pytest.mark.parametrize("module", ["cdpengine.wire.mux", "cdpengine.wire.messages"])
def test_the_sans_io_core_can_be_read_without_its_transports(module: str) -> None:
    # The package's own face imports trio; the core's modules must not be what does.
    source = (
        "import sys, types\n"
        "import importlib.util as u\n"
        "root = u.find_spec('cdpengine').submodule_search_locations\n"
        "for name, path in (('cdpengine', root), ('cdpengine.wire', [root[0] + '/wire'])):\n"
        "    package = types.ModuleType(name)\n"
        "    package.__path__ = list(path)\n"
        "    sys.modules[name] = package\n"
        f"import {module}"
    )
    assert not loaded_by(source) & {"trio", "trio_websocket", "wsproto", "asyncio"}
