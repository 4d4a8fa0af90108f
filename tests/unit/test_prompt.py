"""The prompt of the console at a pseudo-terminal: output appears at its proper place."""

from __future__ import annotations

import itertools
import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = 30

PROGRAM = """
import sys, trio
from pathlib import Path
from cdpengine.cli.output import say
from cdpengine.cli.repl_prompt import Prompt

async def main():
    prompt = Prompt(lambda line: [], Path(sys.argv[1]))
    say("before the first")
    for number in range(int(sys.argv[2])):
        async with trio.open_nursery() as nursery:
            if number == 0:
                nursery.start_soon(print_when_editing, prompt)
            await prompt.ask("> ")
        say(f"answer {number}")

async def print_when_editing(prompt):
    while not prompt._editor.app.is_running:
        await trio.sleep(0.01)
    say("meanwhile")

trio.run(main)
"""


def converse(history: Path) -> str:
    """Press Enter whenever the program is silent. Return its output, without colours and cursor movements."""
    import pty

    main, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, str(history), str(LINES)]
    with subprocess.Popen(
        command, stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True
    ) as process:
        os.close(other)
        seen = b""
        while True:
            while b"meanwhile" in seen and not select.select([main], [], [], 0.02)[0]:
                os.write(main, b"\r")
            try:
                seen += os.read(main, 65536)
            except OSError:  # Linux raises this when the other end is closed
                break
        os.close(main)
        assert process.wait(30) == 0
    return re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>])|\x08|\r", "", seen.decode())


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_output_of_a_line_comes_before_the_next_prompt(tmp_path: Path) -> None:
    seen = converse(tmp_path / "history")
    # The editor draws its prompt more than once. An Enter outside of the editor is an empty line.
    lines = [re.sub(r"(> *)+", ">", line) for line in seen.split("\n") if line.strip()]
    first, above, *rest = [line for line, _ in itertools.groupby(lines)]
    assert (first, above.removeprefix(">")) == ("before the first", "meanwhile")
    assert rest == [line for number in range(LINES) for line in (">", f"answer {number}")]
