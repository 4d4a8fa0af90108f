"""Arguments and results of scripts are withheld in every shape that Chrome gives them.

Shapes and numbers stay.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._evaluate.literals import to_literal
from cdpengine._javascript import own
from cdpengine._protocol.instruments import Traffic
from cdpengine.debug import Redactor
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording.secret_payloads import withhold_quickly

CANARY = "cAnArY 7f3"

OBJECT = {
    "type": "object",
    "className": "Object",
    "description": "Object",
    "objectId": "1.2.3",
    "preview": {"properties": [{"name": "city", "type": "string", "value": CANARY}], "overflow": False},
}
RETURNED: dict[str, dict[str, Any]] = {
    "a text": {"result": {"type": "string", "value": CANARY}},
    "a value": {"result": {"type": "object", "value": {"a": [CANARY, {"b": CANARY}], "n": 7}}},
    "an object": {"result": OBJECT},
    "a symbol": {"result": {"type": "symbol", "description": f"Symbol({CANARY})"}},
    "a regular expression": {"result": {"type": "object", "subtype": "regexp", "description": f"/{CANARY}/"}},
    "an error": {"result": {"type": "object", "subtype": "error", "description": f"Error: {CANARY}\n at x"}},
    "thrown": {
        "result": {"type": "object"},
        "exceptionDetails": {
            "text": "Uncaught",
            "exception": {"type": "object", "className": "Error", "description": f"Error: {CANARY}"},
        },
    },
    "thrown, a text": {
        "result": {"type": "string", "value": CANARY},
        "exceptionDetails": {"text": f"Uncaught {CANARY}", "exception": {"type": "string", "value": CANARY}},
    },
    "deep": {
        "result": {
            "type": "object",
            "deepSerializedValue": {
                "type": "object",
                "value": [
                    ["city", {"type": "string", "value": CANARY}],
                    ["n", {"type": "number", "value": 7}],
                ],
            },
        }
    },
    "properties": {"result": [{"name": "city", "value": {"type": "string", "value": CANARY}}]},
    "inner properties": {"result": [], "internalProperties": [{"name": "x", "value": OBJECT}]},
}


@pytest.mark.parametrize("returned", RETURNED.values(), ids=RETURNED.keys())
@pytest.mark.parametrize("method", ["Runtime.evaluate", "Runtime.callFunctionOn", "Runtime.getProperties"])
def test_returned_texts_are_withheld(method: str, returned: dict[str, Any]) -> None:
    raw = json.dumps({"id": 1, "result": returned, "sessionId": "A1"}, separators=(",", ":")).encode()
    clean = Redactor().redact(raw, method)
    assert CANARY not in clean.decode()
    assert b"[redacted]" in clean
    shape = json.loads(raw.decode().replace(CANARY, "[redacted]"))
    assert json.loads(clean).keys() == shape.keys()
    assert Redactor().redact(raw, method, own=True) == raw
    assert Redactor(keep_arguments=True).redact(raw, method) == raw


def test_the_value_of_a_field_is_learned_from_a_returned_node() -> None:
    """The node is withheld together with the script's result.

    Its secret is not shown anywhere else either.
    """
    node = {
        "nodeType": 1,
        "localName": "input",
        "backendNodeId": 7,
        "attributes": {"name": "token", "value": CANARY},
    }
    value = {"type": "array", "value": [{"type": "string", "value": "x"}, {"type": "node", "value": node}]}
    returned = {"result": {"type": "object", "subtype": "array", "deepSerializedValue": value}}
    redactor = Redactor()
    clean = redactor.redact(json.dumps({"id": 1, "result": returned}).encode(), "Runtime.callFunctionOn")
    assert CANARY not in clean.decode()
    event = {
        "method": "Runtime.consoleAPICalled",
        "params": {"args": [{"type": "string", "value": f"got {CANARY}"}]},
    }
    assert CANARY not in redactor.redact(json.dumps(event).encode(), "Runtime.consoleAPICalled").decode()


GIVEN: dict[str, tuple[str, dict[str, Any]]] = {
    "an argument": (
        "Runtime.callFunctionOn",
        {"functionDeclaration": "f", "arguments": [{"value": CANARY}, {"objectId": "1.2"}, {"value": 7}]},
    ),
    "arguments of Playwright's": (
        "Runtime.callFunctionOn",
        {"functionDeclaration": "f", "arguments": [{"value": {"o": [{"k": "a", "v": {"s": [CANARY]}}]}}]},
    ),
    "ours": ("Runtime.evaluate", {"expression": f"(x => x\n)({to_literal(CANARY)},{to_literal([CANARY, 7, None])})"}),
    "ours, on an object": (
        "Runtime.callFunctionOn",
        {"functionDeclaration": f"function() {{ return (x => x\n).call(this,{to_literal({'a': CANARY})}) }}"},
    ),
    "a variable": ("Debugger.setVariableValue", {"variableName": "x", "newValue": {"value": CANARY}}),
}  # fmt: skip


@pytest.mark.parametrize(("method", "params"), GIVEN.values(), ids=GIVEN.keys())
def test_passed_texts_are_withheld(method: str, params: dict[str, Any]) -> None:
    raw = json.dumps({"id": 1, "method": method, "params": params}, separators=(",", ":")).encode()
    clean = Redactor().redact(raw, method)
    assert CANARY not in clean.decode()
    assert b"[redacted]" in clean
    assert (b"7" in clean) == (b"7" in raw.replace(CANARY.encode(), b""))
    assert Redactor(keep_arguments=True).redact(raw, method) == raw


@pytest.mark.parametrize(
    "source",
    [
        "document.title",
        "(() => 'text')()",
        "(function () { return 'a'\n})({a: f('keep')})",
        "const a = 'keep';\n(b)",
        "x\n)(",
    ],
)
def test_scripts_stay_whole(source: str) -> None:
    message = {"id": 1, "method": "Runtime.evaluate", "params": {"expression": source}}
    raw = json.dumps(message, separators=(",", ":")).encode()
    assert Redactor().redact(raw) == raw


def test_values_that_a_page_passes_to_a_function_of_the_program() -> None:
    payload = json.dumps({"seq": 3, "args": [CANARY]})
    message = {"method": "Runtime.bindingCalled", "params": {"name": "send", "payload": payload}}
    clean = json.loads(Redactor().redact(json.dumps(message).encode()))
    assert json.loads(clean["params"]["payload"]) == {"seq": 3, "args": ["[redacted]"]}
    assert clean["params"]["name"] == "send"


@given(text=st.text(), session=st.sampled_from(["", ',"sessionId":"0AF1"']))
def test_a_text_is_withheld_equally_in_bytes_and_decoded(text: str, session: str) -> None:
    for escaped in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        raw = f'{{"id":12,"result":{{"result":{{"type":"string","value":{escaped}}}}}{session}}}'
        quick = withhold_quickly(raw.encode("utf-8", "surrogatepass"))
        assert quick is not None
        value = json.loads(quick)["result"]["result"]["value"]
        assert value == ("[redacted]" if text else "")
        assert json.loads(quick).get("sessionId") == ("0AF1" if session else None)


@pytest.mark.parametrize(
    "value",
    ['"type":"number","value":7,"description":"7"', '"type":"boolean","value":true', '"type":"undefined"'],
)
def test_numbers_contain_no_text(value: str) -> None:
    raw = f'{{"id":1,"result":{{"result":{{{value}}}}},"sessionId":"AB"}}'.encode()
    assert withhold_quickly(raw) is raw


@pytest.mark.parametrize("value", ['"type":"object","value":{"a":1}', '"type":"function","description":"f"'])
def test_other_replies_are_searched_completely(value: str) -> None:
    assert withhold_quickly(f'{{"id":1,"result":{{"result":{{{value}}}}}}}'.encode()) is None


# --- the engine's scripts
# -----------------------------------------------------------------------------------------

OWN = own("function () { return 'of the engine' }")


def recorded(source: str, *, foreign: bool, limit: int = 0) -> str:
    maker = LineMaker(began=0, limit=limit, redactor=Redactor(), foreign=foreign)
    params = {"functionDeclaration": source, "objectId": "1.2", "arguments": [{"value": "given " + CANARY}]}
    call = {"id": 1, "method": "Runtime.callFunctionOn", "params": params, "sessionId": "A"}
    reply = {
        "id": 1,
        "result": {"result": {"type": "string", "value": "returned " + CANARY}},
        "sessionId": "A",
    }
    traffic = [
        Traffic(0, "sent", "c", json.dumps(call).encode()),
        Traffic(0, "received", "c", json.dumps(reply).encode()),
    ]
    return b"".join(maker.lines(*traffic)).decode()


def test_the_engines_scripts_keep_their_arguments_and_results() -> None:
    lines = recorded(OWN, foreign=False)
    assert f"given {CANARY}" in lines
    assert f"returned {CANARY}" in lines


def test_arguments_of_the_engines_scripts_are_withheld_through_a_proxy() -> None:
    lines = recorded(OWN, foreign=True)
    assert f"given {CANARY}" not in lines
    assert f"returned {CANARY}" in lines


@pytest.mark.parametrize("limit", [0, 100])
@pytest.mark.parametrize("foreign", [True, False])
def test_scripts_of_other_origin_keep_nothing(foreign: bool, limit: int) -> None:
    lines = recorded("function () { return document.title }", foreign=foreign, limit=limit)
    assert CANARY not in lines
    assert "callFunctionOn" in lines
