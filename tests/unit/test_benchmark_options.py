"""The command line of the benchmarks: invalid options are reported before anything starts."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from benchmark_reports import report

from benchmarks.__main__ import chosen_peers, command_text, main, parser, why_not_published
from benchmarks.cases import CASES
from benchmarks.harness.blocks import README
from benchmarks.harness.front import FIGURES
from benchmarks.harness.installed import Kind, why_not
from benchmarks.harness.machine import Load
from benchmarks.harness.peers import PEER_NAMES
from benchmarks.harness.report import to_json
from benchmarks.harness.run import engine_flags


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "no case is named nothing"),
        (["--peers", "lynx"], "no peer is named lynx"),
        (["--turns", "0"], "at least 1"),
        (["--turns", "many"], "invalid int"),
        (["--from", "/no/such/file"], "No such file"),
    ],
)
def test_invalid_options_exit_with_status_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_peers_are_chosen_by_name_and_stand_in_the_order_of_the_report() -> None:
    assert chosen_peers("all") == PEER_NAMES
    assert chosen_peers("none") == ()
    assert chosen_peers("pydoll, playwright") == ("playwright", "pydoll")


def test_the_list_names_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in CASES)


def test_a_case_describes_itself_and_its_duration() -> None:
    for name, case in CASES.items():
        assert case.name == name
        assert case.title
        assert 0 < case.quick_seconds <= case.seconds <= 150


def test_the_command_is_quoted_without_local_paths() -> None:
    text = command_text(["click", "--json", "/some/where/out.json"])
    assert text == "python -m benchmarks click --json out.json"


def test_files_are_written_from_an_existing_report(tmp_path: Path) -> None:
    source, page, tables = (tmp_path / name for name in ("a.json", "a.html", "a.md"))
    source.write_bytes(to_json(report()))
    assert main(["--from", str(source), "--html", str(page), "--markdown", str(tables)]) == 0
    assert page.read_text().startswith("<!doctype html>")
    assert tables.read_text().startswith("# Benchmarks")


def test_only_a_complete_run_writes_the_lines_of_the_readme(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, readme = tmp_path / "a.json", tmp_path / "README.md"
    empty = f"above\n{README.begin}\n{README.end}\nbelow\n"
    readme.write_text(empty)
    figure = report().measurements[0]
    all_of_them = [
        attrs.evolve(figure, case=name, variant=variant)
        for name, _, variant in (figure.figure.partition(": ") for figure in FIGURES)
    ]
    source.write_bytes(to_json(report(*all_of_them[1:])))
    assert main(["--from", str(source), "--markdown", str(readme)]) == 0
    assert readme.read_text() == empty
    assert f"no figure of {FIGURES[0].figure}\n" in capsys.readouterr().err
    source.write_bytes(to_json(report(*all_of_them)))
    assert main(["--from", str(source), "--markdown", str(readme)]) == 0
    text = readme.read_text()
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert "docs/benchmarks.md" in text
    assert all(f"\n| {figure.title} |" in text for figure in FIGURES)


@pytest.mark.parametrize(
    ("options", "published"),
    [
        (["--summary", "{page}"], True),
        (["--markdown", "{marked}"], True),
        (["--markdown", "{plain}"], False),
        (["--json", "{plain}"], False),
        (["--summary", "{page}", "--under-load"], False),
        (["--summary", "{page}", "--from", "{plain}"], False),
    ],
)
def test_measurements_on_a_busy_machine_are_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], published: bool
) -> None:
    paths = {name: tmp_path / f"{name}.md" for name in ("page", "marked", "plain")}
    paths["marked"].write_text(f"{README.begin}\n{README.end}\n")
    made = parser().parse_args([option.format(**paths) for option in options])
    monkeypatch.setattr("benchmarks.__main__.look_at_load", lambda: Load(200.0))
    refused = why_not_published(made)
    assert bool(refused) is published
    assert not published or "wait until it is quiet, or publish with --under-load" in refused
    monkeypatch.setattr("benchmarks.__main__.look_at_load", lambda: Load(0.0))
    assert not why_not_published(made)


def test_the_summary_is_written_with_its_plots_and_without_old_ones(tmp_path: Path) -> None:
    source, page = tmp_path / "a.json", tmp_path / "docs" / "benchmarks.md"
    source.write_bytes(to_json(report()))
    folder = page.with_suffix("")
    folder.mkdir(parents=True)
    (folder / "old.svg").write_text("<svg/>")
    assert main(["--from", str(source), "--summary", str(page)]) == 0
    drawn = sorted(path.name for path in folder.iterdir())
    assert drawn == ["front.svg", "overview.svg", "rate-0.svg"]
    assert all(f"](benchmarks/{name})" in page.read_text() for name in drawn)


def test_a_failed_case_is_the_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = report()
    failed = attrs.evolve(made, cases=(attrs.evolve(made.cases[0], failure="it fell"),))
    (tmp_path / "a.json").write_bytes(to_json(failed))
    assert main(["--from", str(tmp_path / "a.json")]) == 1
    assert "it fell" in capsys.readouterr().err


def test_all_sides_have_the_flags_of_the_engine_except_connection_and_profile() -> None:
    flags = engine_flags()
    assert "--headless=new" in flags
    assert not any(flag.startswith(("--user-data-dir", "--remote-debugging", "about:")) for flag in flags)


def test_a_missing_peer_is_named_with_advice() -> None:
    kind = Kind("serve.py", "no-such-package-of-a-peer")
    assert "scripts/peers.sh" in why_not("lynx", kind)
    assert "there is no" in why_not("lynx", Kind("no_such_script.py", "x"))
