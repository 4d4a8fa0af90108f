"""A number of sequential calls and nothing else, for counting their instructions.

Rule: each way imports only its needs, so that little else is counted. `python -m benchmarks.floor.calls WAY URL
CALLS`.
"""

from __future__ import annotations

import sys


async def engine(url: str, calls: int) -> None:
    """Make calls with the engine's `session.call` over its websocket transport."""
    from cdpengine._protocol.session import open_connection
    from cdpengine._protocol.websocket_transport import open_websocket

    async with open_websocket(url) as transport, open_connection(transport) as connection:
        reply = await connection.root.call("Target.attachToTarget", targetId="T", flatten=True)
        session = connection.targets.sessions[reply["sessionId"]]
        for _ in range(calls):
            await session.call("Runtime.evaluate", expression="1")


async def websocket(url: str, calls: int) -> None:
    """Make the calls of the bare loop with a reader task."""
    from benchmarks.floor.websocket import bare

    async with bare(url) as loop:
        session, params = await loop.attach("T"), {"expression": "1"}
        for _ in range(calls):
            await loop.call("Runtime.evaluate", params, session)


def socket(url: str, calls: int) -> None:
    """Make the calls over a plain socket."""
    from benchmarks.floor.blocking import Caller
    from benchmarks.floor.plain_socket import plain_socket

    with plain_socket(url) as transport:
        caller = Caller(transport)
        session, params = caller.attach("T"), {"expression": "1"}
        for _ in range(calls):
            caller.call("Runtime.evaluate", params, session)


def main(way: str, url: str, calls: int) -> None:
    """Make the calls in one way."""
    if way == "socket":
        socket(url, calls)
        return
    import trio

    trio.run({"engine": engine, "websocket": websocket}[way], url, calls)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
