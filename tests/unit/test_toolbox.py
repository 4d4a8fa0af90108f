"""Tools for function calling: definitions by the rules of each format, calls of all shapes, and their messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import attrs
import jsonschema
import mcp_types
import pytest
import trio

from cdpengine.act import KINDS, ActResponse, Failure, ToolFormat, tools
from cdpengine.act.tooling import toolbox
from cdpengine.act.tooling.formats import FORMATS, ToolCall, ToolResult, find_calls, to_messages
from cdpengine.act.tooling.table import CAPABILITIES
from cdpengine.act.tooling.texts import describe
from cdpengine.errors import InvalidArgumentError

PARAMETERS = {
    "type": "object",
    "properties": {
        "type": {"const": "object"},
        "properties": {"type": "object", "additionalProperties": {"type": "object"}},
        "required": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "required": ["type", "properties"],
    "additionalProperties": False,
}
"""Schemas of arguments: objects without alternatives at the top, which no API accepts."""


def record(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


OPENAI_NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
MEANING = {"type": "string", "minLength": 5, "maxLength": 1024}

RULES: dict[ToolFormat, dict[str, Any]] = {
    "openai-chat": record(
        type={"const": "function"},
        function=record(name=OPENAI_NAME, description=MEANING, parameters=PARAMETERS),
    ),
    "openai-responses": record(
        type={"const": "function"},
        name=OPENAI_NAME,
        description=MEANING,
        parameters=PARAMETERS,
        strict={"const": False},
    ),
    "anthropic": record(
        name={"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,128}$"},
        description=MEANING,
        input_schema=PARAMETERS,
    ),
    "mcp": record(name={"type": "string", "minLength": 1}, description=MEANING, inputSchema=PARAMETERS),
}

SCHEMA_OF: dict[ToolFormat, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "openai-chat": lambda each: each["function"]["parameters"],
    "openai-responses": lambda each: each["parameters"],
    "anthropic": lambda each: each["input_schema"],
    "mcp": lambda each: each["inputSchema"],
}


@pytest.mark.parametrize("tool_format", FORMATS)
def test_definitions_keep_the_rules_of_their_format(tool_format: ToolFormat) -> None:
    definitions = tools(capabilities=CAPABILITIES).definitions(tool_format)
    assert json.loads(json.dumps(definitions)) == definitions
    assert len(definitions) > 40
    for each in definitions:
        jsonschema.validate(each, RULES[tool_format])
        schema = SCHEMA_OF[tool_format](each)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert set(schema.get("required", ())) <= set(schema["properties"])
    if tool_format == "mcp":
        for each in definitions:
            mcp_types.Tool.model_validate(each)


def test_every_verb_with_a_tool_is_offered_and_only_core_by_default() -> None:
    offered = tools(capabilities=CAPABILITIES)
    assert set(offered.names) == {
        verb.tool.name or name_of(kind) for kind, verb in KINDS.items() if verb.tool
    }
    core = tools().names
    assert {"navigate", "snapshot", "click"} <= set(core)
    assert not {"evaluate", "command", "pdf", "output"} & set(core)


def name_of(kind: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind)


def test_a_missing_attribute_is_null() -> None:
    assert describe(ActResponse(kind="get", ok=True)) == "null"
    assert describe(ActResponse(kind="click", ok=True)) == "done"


def test_enumerations_have_a_type() -> None:
    def check(schema: Any) -> None:
        if isinstance(schema, dict):
            assert "enum" not in schema or "type" in schema, schema
            for each in schema.values():
                check(each)
        elif isinstance(schema, list):
            for each in schema:
                check(each)

    check(
        [SCHEMA_OF["anthropic"](each) for each in tools(capabilities=CAPABILITIES).definitions("anthropic")]
    )


@pytest.mark.parametrize(
    "options", [{"capabilities": ["all"]}, {"max_tokens": 0}, {"snapshot_tokens": "many"}]
)
def test_wrong_options_are_refused(options: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        tools(**options)
    with pytest.raises(InvalidArgumentError, match="gemini"):
        tools().definitions("gemini")  # type: ignore[arg-type]


# --- calls -------------------------------------------------------------------------------------------------------


@attrs.frozen
class Response:
    """An object as those of the official packages."""

    content: Any

    def model_dump(self) -> Any:
        return self.content


CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "click", "arguments": '{"ref": "e1"}'}}
CHAT = {"role": "assistant", "content": "So:", "tool_calls": [CHAT_CALL]}
OUTPUT = [
    {"type": "reasoning", "id": "r1", "summary": []},
    {"type": "function_call", "id": "f1", "call_id": "c1", "name": "click", "arguments": '{"ref": "e1"}'},
]
BLOCKS = [
    {"type": "text", "text": "So:"},
    {"type": "tool_use", "id": "c1", "name": "click", "input": {"ref": "e1"}},
]
MCP_CALL = {"name": "click", "arguments": {"ref": "e1"}}

REPLIES: list[tuple[ToolFormat, object]] = [
    ("openai-chat", CHAT_CALL),
    ("openai-chat", CHAT),
    ("openai-chat", {"id": "x", "choices": [{"index": 0, "message": CHAT}]}),
    ("openai-chat", Response({"choices": [{"message": CHAT}]})),
    ("openai-responses", OUTPUT),
    ("openai-responses", {"id": "resp", "output": OUTPUT}),
    ("openai-responses", list(map(Response, OUTPUT))),
    ("anthropic", BLOCKS),
    ("anthropic", {"role": "assistant", "content": BLOCKS}),
    ("anthropic", [{"role": "assistant", "content": list(map(Response, BLOCKS))}]),
    ("mcp", MCP_CALL),
    ("mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": MCP_CALL}),
]


@pytest.mark.parametrize(("tool_format", "reply"), REPLIES)
def test_calls_of_each_format_are_found_in_all_shapes(tool_format: ToolFormat, reply: object) -> None:
    (call,) = find_calls(reply)
    assert (call.format, call.name) == (tool_format, "click")
    assert call.id == ("" if tool_format == "mcp" else "c1")
    assert call.read_arguments() == {"ref": "e1"}


@pytest.mark.parametrize(
    "reply",
    [
        None, "text", [], {}, {"role": "assistant", "content": "Done."}, [{"type": "text", "text": "Done."}],
        {"choices": [{"message": {"role": "assistant", "content": "Done.", "tool_calls": None}}]},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Done."}]}]},
    ],
)  # fmt: skip
def test_replies_without_calls_have_none(reply: object) -> None:
    assert list(find_calls(reply)) == []


@pytest.mark.parametrize(("arguments", "read"), [("", {}), (None, {}), ("{}", {}), ({}, {})])
def test_missing_arguments_are_an_empty_object(arguments: object, read: object) -> None:
    assert ToolCall(format="mcp", id="", name="tabs", arguments=arguments).read_arguments() == read


@pytest.mark.parametrize("arguments", ["{", "[1]", 3, [1]])
def test_arguments_that_are_no_object_are_refused(arguments: object) -> None:
    with pytest.raises(InvalidArgumentError, match="arguments of click"):
        ToolCall(format="mcp", id="", name="click", arguments=arguments).read_arguments()


# --- results -----------------------------------------------------------------------------------------------------


def results(tool_format: ToolFormat) -> list[ToolResult]:
    first, second = (ToolCall(format=tool_format, id=f"c{n}", name="x", arguments={}) for n in (1, 2))
    return [
        ToolResult(call=first, text="no", failed=True),
        ToolResult(call=second, text="a picture", picture="iVBO", media_type="image/png"),
    ]


def test_messages_of_chat_completions_have_pictures_after_all_results() -> None:
    url = {"url": "data:image/png;base64,iVBO"}
    assert to_messages(results("openai-chat")) == [
        {"role": "tool", "tool_call_id": "c1", "content": "no"},
        {"role": "tool", "tool_call_id": "c2", "content": "a picture"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "The picture of the call c2:"},
                {"type": "image_url", "image_url": url},
            ],
        },
    ]


def test_messages_of_responses() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "auto"}
    assert to_messages(results("openai-responses")) == [
        {"type": "function_call_output", "call_id": "c1", "output": "no"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "a picture"}, image],
        },
    ]


def test_messages_of_anthropic_are_one() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBO"}
    text = {"type": "text", "text": "a picture"}
    (message,) = to_messages(results("anthropic"))
    assert message["role"] == "user"
    assert message["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [{"type": "text", "text": "no"}],
            "is_error": True,
        },
        {"type": "tool_result", "tool_use_id": "c2", "content": [text, {"type": "image", "source": source}]},
    ]


def test_results_of_mcp_are_valid() -> None:
    failed, pictured = to_messages(results("mcp"))
    assert mcp_types.CallToolResult.model_validate(failed).is_error
    assert [each.type for each in mcp_types.CallToolResult.model_validate(pictured).content] == [
        "text",
        "image",
    ]


# --- performance -------------------------------------------------------------------------------------------------


@attrs.define
class Requests:
    """Records requests, and answers each with the next response."""

    responses: list[ActResponse]
    seen: list[Any] = attrs.field(factory=list)

    async def __call__(self, _browser: object, request: object) -> ActResponse:
        await trio.lowlevel.checkpoint()
        self.seen.append(request)
        return self.responses.pop(0)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Requests:
    made = Requests([])
    monkeypatch.setattr(toolbox, "dispatch", made)
    return made


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": name, "input": arguments}


async def run(requests: Requests, *calls: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    (message,) = await tools(**options).run(cast("Any", None), list(calls))
    blocks: list[dict[str, Any]] = message["content"]
    return blocks


async def test_calls_become_requests_in_order_with_limits_for_a_model(requests: Requests) -> None:
    requests.responses += [
        ActResponse(kind="snapshot", ok=True, result={"snapshot": "- main"}, url="http://x/")
    ]
    requests.responses += [ActResponse(kind="click", ok=True, diff="+ - alert")]
    seen, acted = await run(requests, call("snapshot"), call("click", ref="e1"), snapshot_tokens=500)
    assert requests.seen == [
        {"kind": "snapshot", "maxTokens": 500},
        {"kind": "click", "ref": "e1", "diff": True},
    ]
    assert seen["content"] == [{"type": "text", "text": "http://x/\n- main"}]
    assert acted == {
        "type": "tool_result",
        "tool_use_id": "click",
        "content": [{"type": "text", "text": "+ - alert"}],
    }


async def test_large_pictures_become_jpegs(requests: Requests) -> None:
    heavy = {"format": "png", "bytes": 2_000_000, "base64": "aGVhdnk="}
    light = {"format": "jpeg", "bytes": 90_000, "base64": "bGlnaHQ="}
    requests.responses += [ActResponse(kind="screenshot", ok=True, result=each) for each in (heavy, light)]
    (shown,) = await run(requests, call("screenshot", fullPage=True))
    assert [each.get("format") for each in requests.seen] == [None, "jpeg"]
    assert {each["maxSide"] for each in requests.seen} == {1568}
    source = {"type": "base64", "media_type": "image/jpeg", "data": "bGlnaHQ="}
    assert shown["content"][1] == {"type": "image", "source": source}


async def test_long_results_are_cut_and_binary_ones_are_described(requests: Requests) -> None:
    document = {"bytes": 9, "base64": "JVBERi0x"}
    requests.responses += [
        ActResponse(kind="console", ok=True, result="line\n" * 5_000),
        ActResponse(kind="pdf", ok=True, result=document),
    ]
    cut, printed = await run(requests, call("console"), call("pdf"), capabilities=["files"], max_tokens=200)
    assert cut["content"][0]["text"].endswith("... cut: all of it is 25,000 characters. Ask for less")
    assert len(cut["content"][0]["text"]) < 1_000
    assert "JVBERi0x" not in printed["content"][0]["text"]
    assert "binary content" in printed["content"][0]["text"]


async def test_failures_are_results_with_their_remedy(requests: Requests) -> None:
    failure = Failure(kind="covered", message="cannot click e4", hint="Close it first.", retryable=True)
    requests.responses.append(ActResponse(kind="click", ok=False, error=failure))
    results = await run(
        requests, call("click", ref="e4"), call("clik"), call("evaluate"), call("tabs", action="fly")
    )
    assert all(each["is_error"] for each in results)
    covered, unknown, refused, wrong = (each["content"][0]["text"] for each in results)
    assert covered == "covered: cannot click e4\nClose it first."
    assert "no tool 'clik'; did you mean the tool click?" in unknown
    assert (
        "needs the capability 'scripts'. The program enables it with tools(capabilities=['scripts'])"
        in refused
    )
    assert "tabs.action" in wrong
    assert len(requests.seen) == 1
