"""The OpenAPI document of the service, built from the schema of requests and responses.

Rule: descriptions come from `act/schema.py`; none are repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdpengine._version import __version__
from cdpengine.act import KINDS
from cdpengine.act.schema import make_schema
from cdpengine.service.events.listening import EVENTS

_STATUS = {
    400: "The request is invalid; the error names the field.",
    401: "The bearer token is missing or invalid.",
    403: "Not allowed: the Host, the Origin, the URL, or scripts.",
    408: "The body arrived too slowly.",
    409: "The ref is stale.",
    413: "The body is too large.",
    422: "The request failed; the error gives the cause.",
    502: "The browser or the page is gone; the next request gets a new one.",
    503: "The service is at capacity.",
}

_SESSION = {
    "name": "session",
    "in": "query",
    "description": "The session's name; created if it does not exist. profile:NAME has a profile.",
    "schema": {
        "type": "string",
        "default": "default",
        "pattern": r"^(profile:)?[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$",
    },
}


def make_document(short_paths: Mapping[str, str]) -> dict[str, Any]:
    """Return the document. `short_paths` are paths for a single kind of request."""
    definitions = make_schema()["$defs"]
    schemas = {name: _localize(schema) for name, schema in definitions.items()}
    schemas["Problem"] = {
        "type": "object",
        "required": ["ok", "error"],
        "properties": {"ok": {"const": False}, "error": {"type": "object"}},
    }
    paths: dict[str, Any] = {
        "/act": {"post": _operation("act", "Do a request.", _reference("ActRequest"))},
        "/tabs": {"get": _operation("tabs", "List the open pages.", None)},
    }
    for path, kind in short_paths.items():
        name = f"{KINDS[kind].__name__}Fields"
        schemas[name] = _without_kind(schemas[KINDS[kind].__name__])
        meaning = str(schemas[name].get("description", kind))
        paths[path] = {"post": _operation(kind, meaning, _reference(name))}
    paths |= {
        "/events": {"get": _events()},
        "/sessions": {"get": _plain("sessions", "List the sessions.")},
        "/sessions/{name}": {
            "delete": {
                **_plain("closeSession", "Close a session with all its pages.", missing=True),
                "parameters": [
                    {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
                ],
            }
        },
        "/mcp": {
            "post": _plain("mcp", "The Model Context Protocol, by streamable HTTP: see its documentation.")
        },
        "/healthz": {"get": {**_plain("health", "Whether the service is running."), "security": []}},
        "/metrics": {"get": _plain("metrics", "Figures for Prometheus.", content="text/plain")},
        "/openapi.json": {"get": _plain("openapi", "This document.")},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "cdpengine",
            "version": __version__,
            "description": "Acting in a browser by requests.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(name: str, meaning: str, body: dict[str, Any] | None) -> dict[str, Any]:
    answer = {"application/json": {"schema": _reference("ActResponse")}}
    pictures: dict[str, Any] = (
        {f"image/{kind}": {} for kind in ("png", "jpeg", "webp")} if name == "screenshot" else {}
    )
    responses: dict[str, Any] = {"200": {"description": "It was done.", "content": {**answer, **pictures}}}
    for status, words in _STATUS.items():
        schema = "Problem" if status in (401, 408, 413) else "ActResponse"
        content = {"application/json": {"schema": {"anyOf": [_reference(schema), _reference("Problem")]}}}
        responses[str(status)] = {"description": words, "content": content}
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": meaning,
        "parameters": [_SESSION],
        "responses": responses,
    }
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return operation


def _events() -> dict[str, Any]:
    operation = _plain(
        "events", "The events of a session as they occur.", missing=True, content="text/event-stream"
    )
    names = "; ".join(f"{name}: {meaning}" for name, meaning in EVENTS.items())
    problem = operation["responses"]["404"]["content"]
    for status in (400, 502, 503):
        operation["responses"][str(status)] = {"description": _STATUS[status], "content": problem}
    parameters = [
        _SESSION,
        _parameter("targetId", "query", "The page; without it, all pages of the session."),
        _parameter("events", "query", f"Comma-separated names; without it, all. {names}"),
        _parameter("Last-Event-ID", "header", "The id of the last event that was received."),
    ]
    return {**operation, "parameters": parameters}


def _parameter(name: str, place: str, meaning: str) -> dict[str, Any]:
    return {"name": name, "in": place, "description": meaning, "schema": {"type": "string"}}


def _plain(
    name: str, meaning: str, *, missing: bool = False, content: str = "application/json"
) -> dict[str, Any]:
    problem = {"application/json": {"schema": _reference("Problem")}}
    responses: dict[str, Any] = {"200": {"description": meaning, "content": {content: {}}}}
    for status in (401, 403, 408, 413):
        responses[str(status)] = {"description": _STATUS[status], "content": problem}
    if missing:
        responses["404"] = {"description": "There is none.", "content": problem}
    if name == "health":
        responses["503"] = {"description": "The service is ending.", "content": {content: {}}}
    return {"operationId": name, "summary": meaning, "responses": responses}


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _without_kind(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = {name: value for name, value in schema["properties"].items() if name != "kind"}
    required = [name for name in schema.get("required", ()) if name != "kind"]
    return {**schema, "properties": properties, "required": required}


def _localize(schema: Any) -> Any:
    """Return a schema whose references point to the schemas of the document."""
    if isinstance(schema, dict):
        return {
            name: value.replace("#/$defs/", "#/components/schemas/") if name == "$ref" else _localize(value)
            for name, value in schema.items()
        }
    if isinstance(schema, list):
        return [_localize(each) for each in schema]
    return schema
