"""Selectors of requests: which strings are criteria, and which are CSS."""

from __future__ import annotations

from typing import Any

import pytest

from cdpengine.act.selectors import parse_selector
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("selector", "criteria"),
    [
        ("text=Sign in", {"text": "Sign in"}),
        (' text="Sign in" ', {"text": "Sign in", "exact": True}),
        (r'text="a \"b\" c"', {"text": 'a "b" c', "exact": True}),
        ('text="', {"text": '"'}),
        ("text='quoted'", {"text": "'quoted'"}),
        ("role=button", {"role": "button"}),
        ('role=button[name="Save"]', {"role": "button", "name": "Save"}),
        ("role=button[name='Save all']", {"role": "button", "name": "Save all"}),
        ("role=button[name=Save all]", {"role": "button", "name": "Save all"}),
        ('role=link[name="[1]"][exact]', {"role": "link", "name": "[1]", "exact": True}),
        ("label=User", {"label": "User"}),
        ("placeholder=Search", {"placeholder": "Search"}),
        ("alt=Logo", {"alt_text": "Logo"}),
        ("title=Close", {"title": "Close"}),
        ("testid=save", {"test_id": "save"}),
        ('testid="save"', {"test_id": "save"}),
        ("css=button.x", {"css": "button.x"}),
        ('css=[a="b"]', {"css": '[a="b"]'}),
        ("button >> nth=1", {"css": "button", "nth": 1}),
        ("text=Add >> nth=-1", {"text": "Add", "nth": -1}),
        ("text=a=b >> c", {"text": "a=b >> c"}),
    ],
)
def test_criteria(selector: str, criteria: dict[str, Any]) -> None:
    assert parse_selector(selector) == criteria


@pytest.mark.parametrize(
    "selector", ["button", "#a > b", "[role=button]", "a[title='x']", "text", "Item 12", "text="]
)
def test_css_is_left_alone(selector: str) -> None:
    assert parse_selector(selector) is None


@pytest.mark.parametrize(
    "selector", ["role=", "role=button[checked]", "role=button Save", 'role=button[name="x]']
)
def test_unknown_roles_are_refused(selector: str) -> None:
    with pytest.raises(InvalidArgumentError, match="role=ROLE"):
        parse_selector(selector)
