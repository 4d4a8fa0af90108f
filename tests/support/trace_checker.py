"""A strict reader of Chrome's trace-event JSON.

It reports everything that Perfetto or chrome://tracing would skip or show incorrectly.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

REQUIRED = {
    "B": {"name", "cat", "args"},
    "E": set(),
    "i": {"name", "cat", "s", "args"},
    "s": {"name", "cat", "id"},
    "f": {"name", "cat", "id"},
    "M": {"name", "args"},
}
ALLOWED = {"B": set(), "E": {"args"}, "i": set(), "s": set(), "f": {"bp"}, "M": set()}
COMMON = {"ph", "ts", "pid", "tid"}
METADATA = {
    "process_name": ("name", str),
    "process_labels": ("labels", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}


def check_trace(document: Any) -> list[str]:
    """Return the faults of a trace, or an empty list."""
    if not isinstance(document, dict) or not isinstance(document.get("traceEvents"), list):
        return ["no object with traceEvents"]
    wrong = [] if document.get("displayTimeUnit") in ("ms", "ns") else ["displayTimeUnit"]
    events = document["traceEvents"]
    for event in events:
        wrong += _shape(event)
    if wrong:
        return wrong
    named = {(e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "M"}
    processes = {pid for name, pid, _ in named if name == "process_name"}
    threads = {(e["pid"], e["tid"]) for e in events}
    # Perfetto names threads by tid alone. It treats the thread whose tid equals its process's pid as the main
    # thread.
    if len({tid for _, tid in threads}) < len(threads) or {tid for _, tid in threads} & processes:
        wrong.append("a thread's number is used twice")
    for event in events:
        if event["pid"] not in processes:
            wrong.append(f"process {event['pid']} has no name")
        if event["ph"] != "M" and ("thread_name", event["pid"], event["tid"]) not in named:
            wrong.append(f"thread {event['pid']}.{event['tid']} has no name")
    # Both viewers sort by time and keep the file's order for equal times.
    return wrong + _order(sorted((e for e in events if e["ph"] != "M"), key=lambda e: e["ts"]))


def _shape(event: Any) -> list[str]:
    if not isinstance(event, dict) or event.get("ph") not in REQUIRED:
        return [f"no event: {event}"]
    phase, keys = event["ph"], set(event)
    wrong = []
    if not REQUIRED[phase] | COMMON <= keys or not keys <= REQUIRED[phase] | ALLOWED[phase] | COMMON:
        wrong.append(f"fields of {event}")
    numbers = [event.get(name) for name in ("ts", "pid", "tid")]
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        wrong.append(f"numbers of {event}")
    if phase == "i" and event.get("s") not in ("g", "p", "t"):
        wrong.append(f"scope of {event}")
    if phase == "f" and event.get("bp", "e") != "e":
        wrong.append(f"binding of {event}")
    if phase == "M":
        key, kind = METADATA.get(event.get("name", ""), ("", str))
        if set(event.get("args", ())) != {key} or not isinstance(event["args"][key], kind):
            wrong.append(f"metadata of {event}")
    return wrong


def _order(events: list[dict[str, Any]]) -> list[str]:
    wrong = []
    open_slices: dict[tuple[int, int], int] = defaultdict(int)
    flows: dict[tuple[str, str, int], dict[str, Any]] = {}
    ended = set()
    waiting: dict[tuple[int, int], dict[str, Any]] = {}
    for event in events:
        thread = (event["pid"], event["tid"])
        if event["ph"] in "Bi":
            waiting.pop(thread, None)
        match event["ph"]:
            case "B":
                open_slices[thread] += 1
                if open_slices[thread] > 1:
                    wrong.append(f"a slice within another on {thread}: calls do not nest")
            case "E":
                open_slices[thread] -= 1
                if open_slices[thread] < 0:
                    wrong.append(f"an end without a beginning: {event}")
            case "s" | "f":
                key = (event["name"], event["cat"], event["id"])
                if event["ph"] == "s":
                    if key in flows:
                        wrong.append(f"a flow that begins twice: {event}")
                    flows[key] = event
                elif key not in flows or key in ended:
                    wrong.append(f"a flow that ends without a beginning, or twice: {event}")
                else:
                    ended.add(key)
                if (event["ph"] == "s" or event.get("bp") == "e") and not open_slices[thread]:
                    wrong.append(f"a flow's end outside of any slice: {event}")
                if event["ph"] == "f" and "bp" not in event:
                    waiting[thread] = event
    wrong += [f"a slice that does not end on {thread}" for thread, count in open_slices.items() if count > 0]
    wrong += [f"a flow without an end: {key}" for key in flows.keys() - ended]
    return wrong + [f"a flow to nothing: {event}" for event in waiting.values()]
