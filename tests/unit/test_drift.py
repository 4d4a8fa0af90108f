"""The engine's and PyCDP's knowledge of the protocol, compared with a browser's protocol."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from protocols import document, protocol

from cdpengine._protocol.domains import Description, Part
from cdpengine.debug.explorer.compatibility import Finding, check_engine, check_pycdp
from cdpengine.debug.explorer.vocabulary import (
    Use,
    engine_uses,
    read_modules,
    read_pycdp,
    uses_in,
)

# -----------------------------------------------------------------------------------


def test_methods_are_read_out_of_the_source() -> None:
    source = '''
async def f(session, url, more):
    """Raises like Doc.string does."""
    await session.call("Page.navigate", url=url, frameId=1)
    session.post("Page.reload", **more)
    await session.request("Page.go", {"a": 1, "b": 2}, dict)
    undo = [Command("Page.back"), Command("Page.forward", {"c": 3})]
    session.on_event("Page.loaded", print)
    return "Not a method.really", "lower.case"
'''
    uses = sorted(uses_in(source, "x.py"), key=lambda use: use.where)
    assert uses[:5] == [
        Use("Page.navigate", "x.py:4", True, ("url", "frameId"), True),
        Use("Page.reload", "x.py:5", True, (), False),
        Use("Page.go", "x.py:6", True, ("a", "b"), True),
        Use("Page.back", "x.py:7", True, (), True),
        Use("Page.forward", "x.py:7", True, ("c",), True),
    ]
    assert [use.method for use in uses[5:]] == ["Page.loaded"]


def test_the_used_commands_are_found() -> None:
    uses = {use.method for use in engine_uses()}
    assert {"Target.createTarget", "Page.navigate", "Runtime.evaluate", "Page.frameNavigated"} <= uses
    assert {"Network.enable", "Accessibility.disable"} <= uses  # sent by subscriptions, named nowhere
    sent = {use.method for use in engine_uses() if use.sent}
    # From folders of every layer, by a table, by a list of posted commands.
    assert {
        "Emulation.setTimezoneOverride",
        "Tracing.start",
        "Page.captureScreenshot",
        "Fetch.enable",
    } <= sent
    assert {"Page.addScriptToEvaluateOnNewDocument", "Runtime.terminateExecution"} <= uses


# --- the engine against a browser ----------------------------------------------------------------------------


class Kind(msgspec.Struct):
    rings: int
    root: dict[str, Any]


class Missing(msgspec.Struct):
    rings: str
    height: int = 0


class Fallen(msgspec.Struct):
    class Inner(msgspec.Struct):
        id: str

    node: Inner
    why: int


def findings(found: list[Finding]) -> set[str]:
    return {f"{'!' if finding.breaks else ' '}{finding.name}" for finding in found}


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (Use("Tree.grow", "x", True, ("kind",), True), set()),
        (Use("Tree.grow", "x", True, ("height",), True), {"!Tree.grow kind="}),
        (Use("Tree.grow", "x", True, ("height",), False), set()),
        (Use("Tree.grow", "x", True, ("kind", "depth"), True), {"!Tree.grow depth="}),
        (Use("Tree.gone", "x", True), {"!Tree.gone"}),
        (Use("Tree.gone", "x"), {"!Tree.gone"}),
        (Use("Tree.fallen", "x"), set()),
        (Use("Tree.fallen", "x", True), {"!Tree.fallen"}),
        (Use("Tree.fell", "x", True), {" Tree.fell"}),
    ],
)
def test_sent_commands(use: Use, expected: set[str]) -> None:
    assert findings(check_engine(protocol(), [use], [])) == expected


@pytest.mark.parametrize(
    ("method", "part", "kind", "expected"),
    [
        ("Tree.grow", "reply", Kind, set()),
        ("Tree.gone", "reply", Kind, {"!Tree.gone"}),
        ("Tree.grow", "event", Kind, {"!Tree.grow"}),
        ("Tree.grow", "reply", Missing, {"!Tree.grow.rings", "!Tree.grow.height"}),
        ("Tree.fallen", "event", Fallen, {"!Tree.fallen.why", "!Tree.fallen.node.id"}),
    ],
)
def test_decoded_types(method: str, part: Part, kind: type[msgspec.Struct], expected: set[str]) -> None:
    assert findings(check_engine(protocol(), [], [Description(method, part, kind)])) == expected


def test_a_required_field_that_became_optional_is_breaking() -> None:
    changed = document()
    changed["domains"][0]["commands"][0]["returns"][1]["optional"] = True
    assert findings(check_engine(protocol(changed), [], [Description("Tree.grow", "reply", Kind)])) == {
        "!Tree.grow.rings"
    }


# --- PyCDP ---------------------------------------------------------------------------------------------------

TREE = """
class Kind(enum.Enum):
    OAK = "oak"

@dataclass
class Node:
    @classmethod
    def from_json(cls, json):
        return cls(id_=int(json['id']), bark=str(json['bark']), parent=json['parent'] if 'parent' in json else None)

def grow(kind, height=None):
    params = dict()
    params['kind'] = kind.to_json()
    params['depth'] = 3
    cmd_dict = {'method': 'Tree.grow', 'params': params}
    json = yield cmd_dict
    return Node.from_json(json['root']), json['rings'] if 'rings' in json else None

def gone():
    cmd_dict = {'method': 'Tree.gone'}
    yield cmd_dict

@event_class('Tree.fallen')
@dataclass
class Fallen:
    @classmethod
    def from_json(cls, json):
        return cls(node=Node.from_json(json['node']))
"""


def test_pycdp_is_parsed_from_its_source() -> None:
    read = read_modules({"tree": TREE, "util": "x = 1"})
    assert read.commands["Tree.grow"].sent == {"kind", "depth"}
    assert read.commands["Tree.grow"].needed == {"root"}
    assert read.commands["Tree.grow"].optional == {"rings"}
    assert read.events["Tree.fallen"].needed == {"node"}
    assert read.types["tree", "Kind"].values == ("oak",)
    assert read.types["tree", "Node"].needed == {"id", "bark"}


def test_pycdp_against_a_browser() -> None:
    found = findings(check_pycdp(protocol(), read_modules({"tree": TREE})))
    assert found >= {
        "!Tree.gone",
        "!Tree.grow depth=",
        " Tree.grow height=",
        "!Tree.Node.bark",
        " Tree.Node.leaf",
        " Tree.fallen.why",
        "!Tree.Kind",
        " Leaf.shed",
    }
    assert "!Tree.grow.root" not in found


def test_the_installed_pycdp_is_read() -> None:
    read = read_pycdp()
    assert {"url", "frameId"} <= read.commands["Page.navigate"].sent
    assert "Page.frameNavigated" in read.events
    assert "dom" in {module for module, _ in read.types}
