"""SIGTERM and SIGHUP in a program with browsers: it unwinds, then ends by the signal.

Each case is a separate program, which sends itself the signals. A block of `UnwoundBySignals` represents a
browser.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows lacks these signals")

BEGIN = """
import os, signal, sys, threading, time, trio, trio.testing
from signal import SIG_DFL, SIG_IGN, SIGHUP, SIGINT, SIGTERM, getsignal
from cdpengine._launch import ending_signals
from cdpengine._launch.ending_signals import UnwoundBySignals as Browser

def kill(number=SIGTERM):
    os.kill(os.getpid(), number)

class Leaving:
    def __init__(self, name): self.name = name
    def __enter__(self): pass
    def __exit__(self, *_): print("left", self.name)

"""


def outcome(program: str) -> tuple[int, list[str]]:
    """Run a program. Return its exit status and its output."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr or done.returncode >= -2, done.stderr
    return done.returncode, done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_all_is_unwound_whatever_the_program_catches(number: str) -> None:
    status, printed = outcome(f"""
        async def other():
            with Leaving("other task"):
                await trio.sleep_forever()

        async def main():
            with Leaving("outer"):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(other)
                    with Leaving("browser"), Browser(), Leaving("body"):
                        for _ in range(3):
                            try:
                                await trio.lowlevel.checkpoint()
                                kill({number})
                                await trio.sleep(60)
                            except Exception:
                                print("swallowed")
                            except BaseException:
                                print("caught")

        trio.run(main)
        print("went on")
        """)
    assert status == -getattr(signal, number)
    assert sorted(printed) == ["caught"] * 3 + ["left body", "left browser", "left other task", "left outer"]


def test_several_browsers_concurrently_and_in_sequence() -> None:
    status, printed = outcome("""
        def shown():
            return ["default" if getsignal(number) is SIG_DFL else "taken" for number in (SIGTERM, SIGHUP)]

        async def one(over):
            with Browser():
                await over.wait()

        async def run():
            async with trio.open_nursery() as nursery:
                over = trio.Event()
                nursery.start_soon(one, over)
                nursery.start_soon(one, over)
                with Browser(), Browser():
                    print(*shown())
                    await trio.testing.wait_all_tasks_blocked()
                print(*shown())
                over.set()
            print(*shown())

        async def last():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(one, trio.Event())
                with Leaving("nested"), Browser(), Leaving("inner"), Browser():
                    kill()
                    await trio.sleep(60)

        for _ in range(2):
            trio.run(run)
        trio.run(last)
        """)
    assert status == -signal.SIGTERM
    each = ["taken taken", "taken taken", "default default"]
    assert printed == [*each, *each, "left inner", "left nested"]


def test_a_handler_of_the_program_is_left_alone() -> None:
    status, printed = outcome("""
        def own(number, _):
            print("own", number)

        signal.signal(SIGTERM, own)
        signal.signal(SIGHUP, SIG_IGN)

        async def main():
            with Browser():
                kill()
                kill(SIGHUP)
                await trio.sleep(0)
            print(getsignal(SIGTERM) is own, getsignal(SIGHUP) is SIG_IGN)

        trio.run(main)
        """)
    assert (status, printed) == (0, ["own 15", "True True"])


def test_a_handler_installed_meanwhile_counts_and_a_late_restore_does_no_harm() -> None:
    status, printed = outcome("""
        async def main():
            with Browser():
                with trio.open_signal_receiver(SIGTERM) as signals:
                    kill()
                    print("received", await anext(signals))
                receiver = trio.open_signal_receiver(SIGTERM)
                receiver.__enter__()
            print(getsignal(SIGTERM) is SIG_DFL)
            receiver.__exit__(None, None, None)  # restores the earlier handler, without browsers
            sys.stdout.flush()
            with Leaving("never"):
                kill()
                await trio.sleep(60)

        trio.run(main)
        """)
    assert (status, printed) == (-signal.SIGTERM, ["received 15", "False"])


@pytest.mark.parametrize(("signals", "ended"), [(2, True), (3, False)])
def test_a_second_signal_does_not_disturb_the_unwinding_and_a_third_one_exits(
    signals: int, *, ended: bool
) -> None:
    status, printed = outcome(f"""
        ending_signals._DEBOUNCE = 0

        async def main():
            with Browser():
                try:
                    kill()
                    await trio.sleep_forever()
                finally:
                    print("ending", flush=True)
                    with trio.CancelScope(shield=True):
                        for _ in range({signals} - 1):
                            kill(SIGHUP)
                            await trio.sleep(0.01)
                    print("ended")

        trio.run(main)
        """)
    assert printed == (["ending", "ended"] if ended else ["ending"])
    assert status == (-signal.SIGTERM if ended else -signal.SIGHUP)


def test_signals_in_quick_succession_are_one() -> None:
    """For example when a terminal closes: one from its shell, one from the system, one passed on by a parent
    program.
    """
    status, printed = outcome("""
        async def main():
            with Leaving("browser"), Browser():
                for _ in range(10):
                    kill(SIGHUP)
                await trio.sleep_forever()

        trio.run(main)
        """)
    assert (status, printed) == (-signal.SIGHUP, ["left browser"])


def test_another_thread_installs_no_handler() -> None:
    status, printed = outcome("""
        async def main():
            with Leaving("never"), Browser():
                print(getsignal(SIGTERM) is SIG_DFL, flush=True)
                kill()
                await trio.sleep_forever()

        thread = threading.Thread(target=trio.run, args=[main])
        thread.start()
        thread.join()
        """)
    assert (status, printed) == (-signal.SIGTERM, ["True"])


def test_a_forked_child_ends_as_if_there_were_no_handler() -> None:
    status, printed = outcome("""
        async def main():
            with Browser():
                child = os.fork()
                if child == 0:
                    kill()
                    time.sleep(60)
                    os._exit(1)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                await trio.sleep(0.01)
            print("not disturbed")

        trio.run(main)
        """)
    assert (status, printed) == (0, ["-15", "not disturbed"])


def test_a_program_that_does_not_unwind_still_ends() -> None:
    status, printed = outcome("""
        ending_signals._UNWINDING_SECONDS = 0.2

        async def main():
            with Browser():
                kill()
                await trio.to_thread.run_sync(time.sleep, 600)

        trio.run(main)
        """)
    assert (status, printed) == (-signal.SIGTERM, [])


def test_an_error_during_unwinding_does_not_prevent_the_end() -> None:
    status, printed = outcome("""
        async def main():
            try:
                with Browser():
                    try:
                        kill()
                        await trio.sleep_forever()
                    finally:
                        raise ValueError
            except ValueError:
                print("caught")
                return

        trio.run(main)
        print("went on")
        """)
    assert (status, printed) == (-signal.SIGTERM, ["caught"])


def test_ctrl_c_is_as_it_was() -> None:
    status, printed = outcome("""
        async def main():
            try:
                with Leaving("browser"), Browser():
                    kill(SIGINT)
                    await trio.sleep_forever()
            except KeyboardInterrupt:
                print("Ctrl-C", getsignal(SIGTERM) is SIG_DFL)

        trio.run(main)
        """)
    assert (status, printed) == (0, ["left browser", "Ctrl-C True"])


def test_a_browser_that_was_never_ended_does_no_harm_to_the_next_run() -> None:
    status, printed = outcome("""
        async def forgetful():
            Browser().__enter__()

        async def main():
            with Leaving("browser"), Browser():
                kill()
                await trio.sleep_forever()

        trio.run(forgetful)
        trio.run(main)
        """)
    assert (status, printed) == (-signal.SIGTERM, ["left browser"])
