"""The vocabulary of roles: known roles, their names, and a documentation that lists them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cdpengine._snapshot import roles
from cdpengine._snapshot.roles import (
    check_role,
    chrome_roles,
    kind_of,
    known_roles,
    role_and_kind,
    role_name,
)
from cdpengine._snapshot.text import is_token
from cdpengine.errors import InvalidArgumentError

DOCS = Path(__file__).parents[2] / "docs" / "snapshot-format.md"


def test_every_name_finds_itself_and_chromes_name() -> None:
    for role in known_roles():
        assert check_role(role) == role
        names = chrome_roles(role)
        assert names
        assert all(role_name(each) == role for each in names)
    for own in roles.INTERNAL_ROLES.keys() | roles.CHROME_ROLES:
        if own not in roles.NEVER_FOUND:
            assert check_role(own) == role_name(own)


def test_the_tables_know_only_roles_of_the_vocabulary() -> None:
    for table in (roles.INTERACTIVE_ROLES, roles.CONTENT_ROLES, roles.STRUCTURAL_ROLES, roles.ALWAYS_LISTED):
        assert table <= known_roles()
    assert set(roles.ELEMENTS) <= roles.ARIA_ROLES | roles.CHROME_ROLES
    assert set(roles.OMITTED_UNNAMED) <= known_roles()
    # Of several roles with one name, at most one may be searched for unconditionally.
    for role in known_roles():
        # (Other tests show roles that are not tokens, and they are called generic.)
        names = [each for each in chrome_roles(role) if is_token(each.lower())]
        assert len([each for each in names if each not in roles.ELEMENTS]) <= 1


def test_the_documentation_lists_all_by_their_kinds() -> None:
    section = DOCS.read_text("utf-8").partition("\n## Roles\n")[2].partition("\n## ")[0]
    parts = re.split(r"\*\*Interactive|\*\*Content|\*\*Structural|Page text outside", section)[1:4]
    listed = [set(re.findall(r"`([a-z-]+)`", part)) for part in parts]
    kinds = {
        kind: {role for role in known_roles() if kind_of(role) == kind} for kind in ("interactive", "content")
    }
    assert listed[0] == kinds["interactive"]
    assert listed[1] == kinds["content"]
    assert listed[2] == known_roles() - kinds["interactive"] - kinds["content"]


def test_a_role_from_a_page_is_searched_only_if_it_is_a_word() -> None:
    for odd in ("", "Odd role!"):
        role_and_kind(odd)
        with pytest.raises(InvalidArgumentError):
            check_role(odd)
