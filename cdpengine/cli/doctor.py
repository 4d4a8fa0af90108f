"""`cdpengine doctor`: what is here, what works, and what to do about the rest.

Rule: this file only prints; each check is in checkup.py.
"""

from __future__ import annotations

from functools import partial

import click
import trio

from cdpengine.cli.options import Failed, Source, browser_options
from cdpengine.cli.output import print_json, say

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(short_help="Check that everything works here, and say what to do.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@partial(browser_options, recordings=2)
def doctor(as_json: bool, executable: str | None, endpoint: str | None) -> None:
    """Check Python, the packages, the browser, its sandbox, and one round trip by each transport.

    Each line is ok, warn or fail, and says what to do when it is not ok. The exit status is 1 when any fails.

    \b
    Examples:
      cdpengine doctor
      cdpengine doctor --browser /opt/chrome/chrome --json
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.cli.checkup import Finding, check_all

    source = Source(executable, endpoint)
    findings: list[Finding] = []

    def report(finding: Finding) -> None:
        findings.append(finding)
        if not as_json:
            _print(finding.status, finding.subject, finding.detail, finding.advice)

    trio.run(check_all, source, report)
    failed = sum(finding.status == "fail" for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": findings})
    elif failed:
        say(f"{failed} of {len(findings)} checks failed.", err=True)
    if failed:
        raise Failed


def _print(status: str, subject: str, detail: str, advice: str) -> None:
    mark = f"{status:<5}"
    colour = COLOURS[status]
    say(
        f"{mark} {subject:<20} {detail}",
        paint=lambda line: click.style(line[: len(mark)], colour) + line[len(mark) :],
    )
    if advice:
        say(f"{'':<26} -> {advice}")
