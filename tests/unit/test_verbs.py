"""What follows from classes is written: the schema, stubs, names, tables of the documentation, and facades."""

from __future__ import annotations

import jsonschema
import pytest
import write_asyncio
from write_verbs import FILES, ROOT

import cdpengine.act
from cdpengine.act import KINDS
from cdpengine.act.schema import make_schema


@pytest.mark.parametrize("name", FILES)
def test_derived_files_match_the_classes(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert FILES[name](text) == text, "update it with python scripts/write_verbs.py"


@pytest.mark.parametrize("name", write_asyncio.FILES)
def test_facades_of_asyncio_match_the_classes(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert write_asyncio.FILES[name]() == text, "update it with python scripts/write_asyncio.py"


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(make_schema())


@pytest.mark.parametrize("kind", KINDS)
def test_each_class_is_public(kind: str) -> None:
    assert getattr(cdpengine.act, KINDS[kind].__name__) is KINDS[kind]


def test_each_verb_has_its_own_command_and_tool() -> None:
    commands = [(kind, form.name) for kind, verb in KINDS.items() for form in verb.commands]
    assert len(set(commands)) == len(commands)
    actions = [
        (verb.tool.name or kind, verb.tool.action) for kind, verb in KINDS.items() if verb.tool is not None
    ]
    assert len(set(actions)) == len(actions)
