"""Each string of each request with half an emoji or a null character gets a response.

The page is used after each request, to detect leftovers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from rounds import every_nth

import cdpengine
from cdpengine.act import KINDS, Actor, dispatch
from cdpengine.act.fields import camel_case

pytestmark = pytest.mark.chrome

PAGE = "data:text/html,<title>x</title><input id=a><input type=file id=f><select id=s><option>a</select>"
ODD = ("a\ud83d", "a\0b")

REQUIRED: dict[str, dict[str, Any]] = {
    "press": {"key": "a"},
    "type": {"ref": "e1", "text": "x"},
    "fill": {"fields": [{"ref": "e1", "value": "x"}]},
    "drag": {"startRef": "e1", "endRef": "e2"},
    "select": {"selector": "#s", "values": ["a"]},
    "upload": {"selector": "#f", "paths": ["x"]},
    "evaluate": {"function": "1"},
    "navigate": {"url": PAGE},
    "setStorage": {"items": {}},
    "search": {"query": "x"},
    "command": {"method": "Browser.getVersion"},
    "fileChooser": {"paths": ["x"]},
    "responseBody": {"url": "x"},
    "dialog": {"accept": True},
    "cacheLookup": {"goal": "x"},
    "startLearning": {"scenario": "x"},
    "forceRefresh": {"entry": "x"},
    "reportError": {"entry": "x"},
    "cacheDelete": {"entry": "x"},
    "cacheShow": {"entry": "x"},
    "cacheVersions": {"entry": "x"},
    "cacheRestore": {"entry": "x", "version": 1},
}


def give_requests() -> Iterator[dict[str, Any]]:
    for kind, request in KINDS.items():
        fields = attrs.fields_dict(request)
        for field in fields.values():
            if "str" not in (of := str(field.type)) or "Literal" in of or field.name == "target_id":
                continue
            for odd in ODD:
                value = [odd] if of.startswith("tuple") else {odd: odd} if of.startswith("dict") else odd
                made = {"kind": kind, **REQUIRED.get(kind, {}), camel_case(field.name): value}
                yield made | ({"timeoutMs": 300} if "timeout_ms" in fields else {})


async def test_each_odd_string_gets_a_response(browser: cdpengine.Browser, tmp_path: Path) -> None:
    requests = list(give_requests())
    assert len({each["kind"] for each in requests}) > 30
    async with browser.new_context() as context:
        actor = Actor(browser, context, files="anywhere", outputs=tmp_path)
        assert (await dispatch(actor, {"kind": "navigate", "url": PAGE})).ok
        for request in every_nth(6, requests):
            with trio.fail_after(30):
                response = await dispatch(actor, request)
            assert response.ok or (response.error is not None and response.error.kind != "internal"), request
            assert response.to_json(), request
            with trio.fail_after(30):
                assert (await dispatch(actor, {"kind": "navigate", "url": PAGE})).ok, request
                assert (await dispatch(actor, {"kind": "snapshot"})).ok, request
