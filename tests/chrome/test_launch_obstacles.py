"""Browsers that do not start: the error begins with the reason and says what to do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import trio

import cdpengine


async def failure(**options: Any) -> cdpengine.errors.LaunchFailedError:
    with trio.fail_after(60), pytest.raises(cdpengine.errors.LaunchFailedError) as caught:
        async with cdpengine.launch(timeout=30, **options):
            pytest.fail("the browser started")
    return caught.value


async def test_no_display() -> None:
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    error = await failure(headless=False, env=env)
    assert error.reason == "it has no display: Missing X server or $DISPLAY"
    assert "headless=True" in str(error).partition("\n")[0]


async def test_profile_locked_by_another_computer(tmp_path: Path) -> None:
    lock = tmp_path / "SingletonLock"
    lock.symlink_to("elsewhere-4711")
    error = await failure(user_data_dir=tmp_path)
    assert "in use by another browser on another computer" in error.reason
    assert error.advice.startswith("Close process 4711 on elsewhere.")
    assert "delete SingletonLock" in error.advice
    lock.unlink()
    async with cdpengine.launch(user_data_dir=tmp_path):
        pass  # as the hint advises


async def test_a_temporary_folder_with_a_long_path_and_one_that_is_missing(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    error = await failure(env={**os.environ, "TMPDIR": str(long)})
    assert error.reason.startswith("the path of its temporary folder is too long: Socket path too long")
    assert "TMPDIR" in error.advice
    error = await failure(env={**os.environ, "TMPDIR": str(tmp_path / "missing")})
    assert error.reason == "its temporary folder cannot be used: Failed to create socket directory"


async def test_exiting_wrapper_scripts(tmp_path: Path) -> None:
    wrapper = tmp_path / "chrome"
    wrapper.write_text("#!/bin/sh\necho starting\necho no licence >&2\nexit 3\n")
    wrapper.chmod(0o755)
    error = await failure(executable=wrapper)
    assert error.reason == "it is a script that ended without starting a browser: no licence"
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF" + bytes(200))
    program.chmod(0o755)
    wrapper.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
    assert "built for another processor" in (await failure(executable=wrapper)).reason
    assert "not a program for this system" in (await failure(executable=program)).reason
