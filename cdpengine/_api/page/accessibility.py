"""Accessibility checks with axe-core: AccessibilityIssue, and the check of a page with all its frames.

Rule: axe-core runs in an isolated world of each frame, so the page's scripts do not see it. It is not part of this
package: a file of the caller, of `node_modules`, or of an installed Python package is used.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import attrs
import msgspec
import trio

from cdpengine import _json
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.targets import assign_ref
from cdpengine._budget import Budget
from cdpengine._checks import invalid, wrong_type
from cdpengine._javascript import own, script
from cdpengine._page.frames import Frame
from cdpengine._page.scripts.page_functions import SETTLED_VALUE, ExecutionContext, ObjectGroup, object_group
from cdpengine._page.scripts.worlds import post_world
from cdpengine._paths import to_path
from cdpengine._protocol.domains.dom import DescribedNode, DescribeNodeReply
from cdpengine._protocol.domains.page import IsolatedWorldReply
from cdpengine.errors import (
    EvaluationFailedError,
    InvalidArgumentError,
    InvalidStateError,
    RemoteError,
    SessionGoneError,
)

_WORLD = "cdpengine-axe"

_PACKAGES = ("axe_playwright_python", "axe_core_python")
"""Python packages that contain `axe.min.js`."""

_WHOLE = "html"
"""The context of the main frame: the whole document."""

_UNKNOWN = re.compile("unknown (rule|tag) `([^`]*)`")

_HAS_AXE = own("typeof axe === 'object' ? axe.version : ''")
_FIND = own("(selector) => axe.utils.shadowSelect(selector)")

Impact = Literal["minor", "moderate", "serious", "critical", ""]


@attrs.frozen
class AccessibilityIssue:
    """An element that breaks a rule of axe-core.

    `rule` is the rule's id, such as "image-alt", `impact` its severity, `help` its summary and `help_url` its
    description. `summary` says how to correct the element. `ref`, `role` and `name` identify the element; `ref`
    is "" if the document was replaced meanwhile. `html` is the beginning of its markup. `tags` are the standards
    of the rule, such as "wcag2a".
    """

    rule: str
    impact: Impact
    help: str
    help_url: str
    summary: str
    ref: str
    role: str
    name: str
    html: str
    tags: tuple[str, ...]
    frame_id: str

    def __str__(self) -> str:
        element = " ".join(filter(None, (self.role, repr(self.name) if self.name else "", f"({self.ref})")))
        return f"{self.rule} [{self.impact}]: {self.help}. {element}"


class _Child(msgspec.Struct):
    find: Any
    path: list[Any]
    context: Any


class _Part(msgspec.Struct):
    partial: Any
    children: list[_Child]


class _Issue(msgspec.Struct, rename="camel"):
    rule: str
    impact: Impact
    help: str
    help_url: str
    tags: list[str]
    html: str
    summary: str
    target: list[Any]


@attrs.frozen
class _Document:
    """A checked document: its frame, and its world with axe."""

    frame: Frame
    loader_id: str
    world: ExecutionContext


async def find_issues(
    core: PageCore,
    *,
    tags: Sequence[str],
    rules: Sequence[str],
    without: Sequence[str],
    axe: str | os.PathLike[str] | None,
    budget: Budget,
) -> list[AccessibilityIssue]:
    """Return the issues of a page, in the order of axe-core. See `PageReading.accessibility_issues`."""
    options = make_options(tags, rules, without)
    source = await _read_axe(axe)
    budget.step("checking the documents")
    check = _Check(core, source, options)
    main = core.target.frames.main
    await check.read(main, _WHOLE, ())
    if () not in check.documents:
        raise InvalidStateError(
            action=budget.action, reason="the main document runs no scripts or was replaced"
        )
    world = check.documents[()].world
    found = await world.call(
        own(script("_api/page/axe_result")), check.partials, options, returns=list[_Issue], how=SETTLED_VALUE
    )
    budget.step(f"assigning refs to {len(found)} elements")
    with object_group("axe") as group:
        return [await check.issue(each, group, budget) for each in found]


def make_options(tags: Sequence[str], rules: Sequence[str], without: Sequence[str]) -> dict[str, Any]:
    """Return the options of axe-core. Raises InvalidArgumentError."""
    for what, given in (("tags", tags), ("rules", rules), ("without", without)):
        if isinstance(given, str) or not all(isinstance(each, str) for each in given):
            raise wrong_type(what, given, "a list of strings")
    if tags and rules:
        raise InvalidArgumentError(what="rules", given="rules and tags", expected="only one of them")
    options: dict[str, Any] = {"reporter": "v1", "resultTypes": ["violations"]}
    if tags:
        options["runOnly"] = {"type": "tag", "values": list(tags)}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    if without:
        options["rules"] = {rule: {"enabled": False} for rule in without}
    return options


@attrs.define(eq=False)
class _Check:
    """One check. `partials` are in the order that axe-core needs; None stands for a document without answer."""

    _core: PageCore
    _source: str
    _options: dict[str, Any]
    partials: list[Any] = attrs.field(factory=list)
    documents: dict[tuple[str, ...], _Document] = attrs.field(factory=dict)

    async def read(self, frame: Frame | None, context: object, path: tuple[str, ...]) -> None:
        """Check a frame and the frames in it."""
        try:
            if frame is None:
                raise _DocumentMissing
            loader_id = frame.loader_id
            world = await self._open_world(frame)
            part = await world.call(
                own(script("_api/page/axe_part")), context, self._options, returns=_Part, how=SETTLED_VALUE
            )
        except EvaluationFailedError as failed:
            if (unknown := _UNKNOWN.search(failed.text)) is not None:
                what, given = unknown.groups()
                raise invalid(f"{what}s", given, f"{what}s of this version of axe-core") from None
            self.partials.append(None)
            return
        except (_DocumentMissing, RemoteError, SessionGoneError):
            self.partials.append(None)
            return
        self.documents[path] = _Document(frame, loader_id, world)
        self.partials.append(part.partial)
        for child in part.children:
            inner = await self._frame_of(world, child.find)
            await self.read(inner, child.context, (*path, *map(_json.encode_ascii, child.path)))

    async def issue(self, found: _Issue, group: ObjectGroup, budget: Budget) -> AccessibilityIssue:
        """Return an issue with the ref of its element."""
        path = tuple(map(_json.encode_ascii, found.target[:-1]))
        document = self.documents.get(path)
        ref = None
        if document is not None:
            described = await _describe(document.world, found.target[-1], group)
            if described is not None:
                known = self._core.refs.known(document.loader_id, described.backend_node_id)
                ref = known or await assign_ref(
                    self._core.target,
                    self._core.refs,
                    self._core.worlds,
                    described.backend_node_id,
                    document.frame.session.id,
                    budget.remaining,
                    every=True,
                    frame_id=document.frame.id,
                )
        if ref is not None:
            self._core.give({ref.id: ref})
        return AccessibilityIssue(
            rule=found.rule,
            impact=found.impact,
            help=found.help,
            help_url=found.help_url,
            summary=found.summary,
            ref="" if ref is None else ref.id,
            role="" if ref is None else ref.role,
            name="" if ref is None else ref.name,
            html=found.html,
            tags=tuple(found.tags),
            frame_id="" if document is None else document.frame.id,
        )

    async def _open_world(self, frame: Frame) -> ExecutionContext:
        created = await post_world(frame.session, frame.id, _WORLD).decoded(IsolatedWorldReply)
        world = ExecutionContext(frame.session, created.execution_context_id)
        if not await world.evaluate(_HAS_AXE, returns=str):
            await world.post_expression(self._source, how={}).raw()
        return world

    async def _frame_of(self, world: ExecutionContext, selector: object) -> Frame | None:
        with object_group("axe") as group:
            described = await _describe(world, selector, group)
        return None if described is None else self._core.target.frames.get(described.frame_id or "")


class _DocumentMissing(Exception):
    """A frame element shows no document that the engine knows."""


async def _describe(world: ExecutionContext, selector: object, group: ObjectGroup) -> DescribedNode | None:
    """Return the element that axe-core's selector names, or None if it is gone."""
    try:
        element = await world.make(_FIND, selector, group=group)
        if element is None:
            return None
        reply = await world.session.request(
            "DOM.describeNode", {"objectId": element.reference}, DescribeNodeReply
        )
    except (RemoteError, EvaluationFailedError, SessionGoneError):
        return None
    return reply.node


# --- the file of axe-core --------------------------------------------------------------------------------------


async def _read_axe(path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        return await trio.to_thread.run_sync(_read, to_path("axe", path))
    found = await trio.to_thread.run_sync(_find_axe)
    if found is None:
        raise InvalidStateError(
            action="check the accessibility of a page",
            reason="axe-core was not found. Run `npm install axe-core` in this folder, or `pip install "
            "axe-playwright-python`, or pass axe='path/to/axe.min.js'",
        )
    return await trio.to_thread.run_sync(_read, found)


def _read(path: Path) -> str:
    try:
        return _read_known(path, path.stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8"
        expected = f"a readable file of axe-core ({reason})"
        raise InvalidArgumentError(what="axe", given=repr(str(path))[:200], expected=expected) from None


@cache
def _read_known(path: Path, _changed: int) -> str:
    source = path.read_text("utf-8")
    if "runPartial" not in source:
        expected = "axe-core 4.3 or newer (axe.min.js)"
        raise InvalidArgumentError(what="axe", given=repr(str(path))[:200], expected=expected)
    return own(source)


def _find_axe() -> Path | None:
    here = Path.cwd()
    for folder in (here, *here.parents):
        candidate = folder / "node_modules" / "axe-core" / "axe.min.js"
        if candidate.is_file():
            return candidate
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in spec.submodule_search_locations or () if spec is not None else ():
            candidate = Path(place) / "axe.min.js"
            if candidate.is_file():
                return candidate
    return None
