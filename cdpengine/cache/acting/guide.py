"""The guide: instructions about the cache for a language model, in the terms of its client."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

Client = Literal["requests", "mcp"]
"""The client of a guide: one that sends requests as JSON, or one that uses the tools of MCP."""

_GUIDE = Path(__file__).with_name("guide.txt")

_WORDS: Mapping[Client, Mapping[str, str]] = MappingProxyType(
    {
        "requests": {
            "replay": 'send {"kind": "executeCached", "entry": ID, "variables": {...}}',
            "from_index": '"fromIndex"',
            "learn": 'send {"kind": "startLearning", "scenario": NAME, "variables": {...}}',
            "stop": 'send {"kind": "stopLearning"}',
            "report": 'send {"kind": "reportError", "entry": ID}',
            "refresh": '{"kind": "forceRefresh", "entry": ID}',
        },
        "mcp": {
            "replay": 'call cache_replay with {"entry": ID, "variables": {...}}',
            "from_index": '"fromIndex"',
            "learn": 'call learn with {"action": "start", "scenario": NAME, "variables": {...}}',
            "stop": 'call it with {"action": "stop"}',
            "report": "call cache_report with the entry",
            "refresh": "cache_refresh",
        },
    }
)


@cache
def read_guide(client: Client) -> str:
    """Return the guide in the terms of a client, without the known scenarios."""
    text = _GUIDE.read_text("utf-8")
    for name, words in _WORDS[client].items():
        text = text.replace(f"{{{name}}}", words)
    return text
