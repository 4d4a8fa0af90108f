"""The documentation is complete: every error has its cure, every link a target, every block a known kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import click
import pytest
from doc_examples import ROOT, blocks, pages
from public_names import AREAS, ENGINE

import cdpengine
import cdpengine.cache
import cdpengine.debug
import cdpengine.pool.manners
from cdpengine import errors
from cdpengine.cli.commands import commands

RUN_BY_TESTS = {"python", "py", "ini"}
ONLY_SHOWN = {"console", "text"}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def test_a_name_is_public_in_one_place() -> None:
    counted = Counter(name for module in (*ENGINE, errors) for name in module.__all__)
    assert {name for name, count in counted.items() if count > 1} == set()


def test_names_of_areas_are_found_at_the_top_level_too() -> None:
    for area in (*AREAS, "errors"):
        module = getattr(cdpengine, area)
        assert all(getattr(cdpengine, name) is getattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        getattr(cdpengine, "Nothing")  # noqa: B009


def public_errors() -> set[str]:
    found = {name: getattr(errors, name) for name in errors.__all__}
    return {
        name for name, each in found.items() if isinstance(each, type) and issubclass(each, BaseException)
    }


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as used in links."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_every_public_error_has_one_row_with_its_cause_and_its_cure() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (.*) \| (.*) \|$", (ROOT / "docs/errors.md").read_text("utf-8"), re.MULTILINE
    )
    counted = Counter(name for name, _cause, _cure in rows)
    assert set(counted) == public_errors()
    assert set(counted.values()) == {1}
    assert all(len(cause.split()) > 2 for _name, cause, _cure in rows)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_page_and_its_heading(page: object) -> None:
    assert isinstance(page, type(ROOT))
    for target in LINK.findall(re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page}: {target}"
        if page.is_relative_to(ROOT / "docs"):
            assert linked.is_relative_to(ROOT / "docs"), f"{page}: {target} is not on the site"
        assert not anchor or anchor in anchors(linked.read_text("utf-8")), f"{page}: {target}"


def test_every_block_has_a_language_and_every_example_is_runnable_python() -> None:
    found = [block for page in pages() for block in blocks(page)]
    assert {block.language for block in found} == RUN_BY_TESTS | ONLY_SHOWN
    fences = sum(page.read_text("utf-8").count("```") for page in pages())
    assert fences == 2 * len(found), "a fence without a parsed block: is it inside a list, or unclosed?"
    for block in found:
        if block.language == "python":
            block.compiled()


def test_every_public_name_is_in_the_reference() -> None:
    text = "".join(path.read_text("utf-8") for path in sorted((ROOT / "docs/reference").glob("*.md")))
    named = re.findall(r"^::: cdpengine\.(\w+)$", text, re.MULTILINE)
    modules = {*AREAS, "debug", "errors"}
    # Types without members, and data. They are documented where they are used.
    plain = {"DEVICES", "NETWORKS"}
    assert set(named) - {"errors"} == set(cdpengine.__all__) - plain - modules - {"__version__"}
    types = {
        "ABORT_REASONS", "AbortReason", "ElementTarget", "EventKind", "FillValue", "PageEvent", "ResourceType",
    }  # fmt: skip
    for area in AREAS:
        in_area = re.findall(rf"^::: cdpengine\.{area}\.(\w+)$", text, re.MULTILINE)
        assert sorted(in_area) == sorted(set(getattr(cdpengine, area).__all__) - types)
    debug = re.findall(r"^::: cdpengine\.debug\.(\w+)$", text, re.MULTILINE)
    assert sorted(debug) == sorted(cdpengine.debug.__all__)
    cache = re.findall(r"^::: cdpengine\.cache\.(\w+)$", text, re.MULTILINE)
    assert sorted(cache) == sorted(cdpengine.cache.__all__)
    manners = re.findall(r"^::: cdpengine\.pool\.manners\.(\w+)$", text, re.MULTILINE)
    assert sorted(manners) == sorted(cdpengine.pool.manners.__all__)


def test_every_command_is_on_the_page_of_the_command_line() -> None:
    text = (ROOT / "docs/command-line.md").read_text("utf-8")
    rows = "".join(re.findall(r"^\| `cdpengine .*$", text, re.MULTILINE))
    found = set(names(commands))
    assert len(found) > 15
    assert (
        sorted(name for name in found if not re.search(rf"(`|cdpengine |recording ){re.escape(name)}`", rows))
        == []
    )


def names(group: click.Group) -> Iterator[str]:
    """Yield the names of all commands, including commands of groups."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group) and name == "recording":
            yield from names(command)
        else:
            yield name
