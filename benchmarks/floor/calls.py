"""A number of sequential calls and nothing else, for counting their instructions.

`python -m benchmarks.floor.calls WAY URL TARGET CALLS`, with the browser's websocket and the id of a page.
"""

from __future__ import annotations

import sys

import trio


async def engine(url: str, target_id: str, calls: int) -> None:
    from cdpengine._protocol.session import open_connection
    from cdpengine._protocol.websocket_transport import open_websocket

    async with open_websocket(url) as transport, open_connection(transport) as connection:
        reply = await connection.root.call("Target.attachToTarget", targetId=target_id, flatten=True)
        session = connection.targets.sessions[reply["sessionId"]]
        for _ in range(calls):
            await session.call("Runtime.evaluate", expression="1")


async def websocket(url: str, target_id: str, calls: int) -> None:
    from benchmarks.floor.websocket import bare_loop

    async with bare_loop(url) as loop:
        session, params = await loop.attach(target_id), {"expression": "1"}
        for _ in range(calls):
            await loop.call("Runtime.evaluate", params, session)


if __name__ == "__main__":
    trio.run(
        {"engine": engine, "websocket": websocket}[sys.argv[1]], sys.argv[2], sys.argv[3], int(sys.argv[4])
    )
