"""SnapshotStats: what a snapshot is made of, and where its time went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from cdpengine._snapshot.node import Document


def _read_only(values: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(dict(values))


@attrs.frozen
class FrameSource:
    """Where one frame's nodes came from, and why from there. `source` is "none" for a frame that gave none.

    `url` is the frame's address then.
    """

    source: str
    reason: str
    url: str = ""


@attrs.frozen(kw_only=True)
class SnapshotStats:
    """What a snapshot is made of. `lines` includes remarks; `refs` and `interactive` count what is shown.

    `chars` is the length of the text, `tokens` an estimate of what a language model counts (see
    `_snapshot/size.py`). `frames` counts the documents that are in it, `nodes_seen` what the sources looked at,
    `parts_reused` the parts that were the same as before, whose nodes were used once more (docs/snapshots.md).
    `source` is the one source of all, or "mixed"; `sources` says it for each frame id, with the reason.
    `milliseconds` is the time by step: `read` (all frames), `refs`, `render`, and `total` of them; the steps
    of the sources (`fetch`, `fold`, ...) are summed over the frames, which are read at the same time.
    """

    lines: int
    chars: int
    tokens: int = 0
    refs: int
    interactive: int
    frames: int = 1
    nodes_seen: int
    parts_reused: int = 0
    source: str
    sources: Mapping[str, FrameSource] = attrs.field(factory=dict, converter=_read_only)
    milliseconds: Mapping[str, float] = attrs.field(converter=_read_only)


def common_source(sources: Iterable[str]) -> str:
    """Return the one source of all, "mixed" where there are several, "none" where there is none."""
    different = set(sources)
    return different.pop() if len(different) == 1 else "mixed" if different else "none"


def summed(documents: Iterable[Document]) -> dict[str, float]:
    """Add up the time of the documents' sources, step by step."""
    total: dict[str, float] = {}
    for document in documents:
        for step, milliseconds in document.milliseconds.items():
            total[step] = total.get(step, 0.0) + milliseconds
    return total
