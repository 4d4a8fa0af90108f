"""A small made-up protocol, in the form of a browser's /json/protocol."""

from __future__ import annotations

import copy
import json
from typing import Any

from cdpengine.debug.explorer.protocol import Protocol, decode_protocol

DOCUMENT: dict[str, Any] = {
    "version": {"major": "1", "minor": "3"},
    "domains": [
        {
            "domain": "Tree",
            "description": "Trees. They grow.",
            "dependencies": ["Leaf"],
            "types": [
                {
                    "id": "Node",
                    "type": "object",
                    "description": "A node of a tree",
                    "properties": [
                        {"name": "id", "type": "integer"},
                        {"name": "parent", "$ref": "Node", "optional": True},
                        {"name": "children", "type": "array", "items": {"$ref": "Node"}},
                        {"name": "leaf", "$ref": "Leaf.Leaf"},
                    ],
                },
                {"id": "Kind", "type": "string", "enum": ["oak", "elm"]},
                {"id": "NodeId", "type": "string"},
            ],
            "commands": [
                {
                    "name": "grow",
                    "description": "Makes a tree grow. Slowly.",
                    "parameters": [
                        {"name": "kind", "$ref": "Kind"},
                        {"name": "height", "type": "number", "optional": True},
                        {"name": "evergreen", "type": "boolean", "optional": True},
                        {"name": "name", "type": "string", "optional": True},
                        {"name": "owner", "$ref": "NodeId", "optional": True},
                    ],
                    "returns": [{"name": "root", "$ref": "Node"}, {"name": "rings", "type": "integer"}],
                },
                {"name": "fell", "deprecated": True},
                {"name": "plant", "parameters": [{"name": "at", "type": "array", "items": {"type": "integer"}}]},
            ],
            "events": [
                {"name": "fallen", "parameters": [{"name": "node", "$ref": "Node"}, {"name": "why", "type": "string"}]}
            ],
        },
        {
            "domain": "Leaf",
            "experimental": True,
            "types": [{"id": "Leaf", "type": "object", "properties": [{"name": "tree", "$ref": "Tree.Node"}]}],
            "commands": [{"name": "enable"}, {"name": "shed", "parameters": [{"name": "lost", "$ref": "Nowhere.Thing"}]}],
        },
    ],
}  # fmt: skip


def document() -> dict[str, Any]:
    """Return a copy that tests may change."""
    return copy.deepcopy(DOCUMENT)


def protocol(changed: dict[str, Any] | None = None) -> Protocol:
    """Return the decoded protocol."""
    return decode_protocol(json.dumps(DOCUMENT if changed is None else changed).encode(), "a test")
