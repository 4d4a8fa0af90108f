"""Prints what an engine reads of random documents: `python snapshot_digests.py ADDRESS FIRST COUNT`.

scripts/compare_snapshots.py serves the documents at ADDRESS and runs this with the engines of two checkouts. Each line
is a JSON array: the seed, whether the document was read without Chrome's tree, and two snapshots: the first one and
one after some changes. A document that was read without the tree is read again with it, which gives two more.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import trio

import cdpengine
from cdpengine._snapshot.sources import walk as walks

MUTATIONS = Path(__file__).with_name("mutations.js").read_text("utf-8")


def without_numbers(snapshot: cdpengine.Snapshot) -> str:
    """Return the snapshot, and its data, with the refs numbered by their order."""
    order = {ref: f"e{number}" for number, ref in enumerate(snapshot.refs, start=1)}
    text = re.sub(r"\be\d+\b", lambda found: order.get(found[0], found[0]), snapshot.text)
    data = [
        (node.role, node.name, node.value, dict(node.states), node.text, node.parent, node.url, node.description,
         node.placeholder, node.clickable, node.remark, node.ref is not None)
        for node in snapshot.nodes
    ]  # fmt: skip
    return f"{snapshot.title}\n{text}\n{json.dumps(data)}"


async def read(page: cdpengine.Page, address: str, seed: int) -> tuple[bool, str, str]:
    """Return whether the document was read without the tree, and both snapshots."""
    await page.goto(f"{address}/{seed}")
    first = await page.snapshot()
    plain = all(each.plain for each in walks.remembered[page.session].values())
    await page.evaluate(f"{MUTATIONS}; for (const each of [1, 2, 3]) mutate({seed} * 3 + each)")
    return plain, without_numbers(first), without_numbers(await page.snapshot())


async def main(address: str, first: int, count: int) -> None:
    async with cdpengine.launch() as browser:
        tree_page, page = await browser.new_page(), await browser.new_page()
        for seed in range(first, first + count):
            walks._with_trees.discard(page.session)
            plain, *found = await read(page, address, seed)
            if plain:
                walks._with_trees.add(tree_page.session)
                _, *others = await read(tree_page, address, seed)
                found += others
            print(json.dumps([seed, plain, *found]), flush=True)


if __name__ == "__main__":
    trio.run(main, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
