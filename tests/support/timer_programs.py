"""Random programs of timers, whose order on the real clock is certain: no two of their steps are close in time."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

STEP = 30
"""Smallest distance of two steps, in milliseconds."""

RUN = """program => {
  const log = window.log = [];
  const timers = {};
  const run = (node) => {
    const act = () => {
      log.push(node.name);
      Promise.resolve().then(() => log.push(node.name + " then")).then(() => log.push(node.name + " again"));
      for (const child of node.children) run(child);
      if (node.clears) clearTimeout(timers[node.clears]);
      if (node.stops && --node.left === 0) clearInterval(timers[node.name]);
      if (node.throws) throw new Error(node.name);
    };
    timers[node.name] = node.stops ? setInterval(act, node.delay) : setTimeout(act, node.delay);
  };
  for (const node of program) run(node);
}"""


def program(seed: int) -> tuple[list[dict[str, Any]], int]:
    """Return a program for RUN, and its duration in milliseconds."""
    chance = random.Random(seed)
    while True:
        nodes = [_node(chance, f"{number}", 0) for number in range(chance.randint(2, 5))]
        times = sorted(time for node in nodes for time in _times(node, 0))
        if all(after - before >= STEP for before, after in itertools.pairwise(times)):
            names = [each["name"] for each in nodes]
            if len(names) > 2:
                nodes[0]["clears"] = chance.choice(names[1:])
            return json.loads(json.dumps(nodes)), times[-1] + 1


def _node(chance: random.Random, name: str, depth: int) -> dict[str, Any]:
    repeats = depth == 0 and chance.random() < 0.3
    children = (
        []
        if repeats or depth == 2
        else [_node(chance, f"{name}.{number}", depth + 1) for number in range(chance.choice((0, 0, 1, 2)))]
    )
    return {
        "name": name,
        "delay": chance.randint(1, 400),
        "children": children,
        "stops": repeats,
        "left": 3,
        "throws": chance.random() < 0.2,
    }


def _times(node: dict[str, Any], begin: int) -> list[int]:
    times = [begin + node["delay"] * number for number in range(1, 4 if node["stops"] else 2)]
    return times + [time for child in node["children"] for time in _times(child, times[0])]
