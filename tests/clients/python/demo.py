"""The Python SDK 2.x against the binary with its demo tools: that what is shipped serves what the library serves.

usage: python demo.py http://HOST:PORT/mcp
"""

import time
from typing import Any

from mcp_types import INVALID_PARAMS

from steps import MODERN, Peer, connected, every_page, refused, run, text

SLEEP_MS = 600


async def demo(peer: Peer) -> None:
    async def lists() -> None:
        tools = await every_page("tools", lambda cursor: peer.client.list_tools(cursor=cursor))
        names = [tool.name for tool in tools]
        assert all(names.count(name) == 1 for name in ("echo", "add", "sleep", "fail")), names

    async def calls() -> None:
        message = 'hällo, "wörld"\n\u2028 \U0001f980'
        assert text(await peer.call("echo", {"message": message})) == message
        assert float(text(await peer.call("add", {"a": 40, "b": 2}))) == 42
        assert (await peer.call("fail", {})).is_error
        assert (await peer.call("add", {"a": "forty", "b": 2})).is_error
        assert (await refused(peer.call("no-such-tool", {}))).code == INVALID_PARAMS

    async def progress() -> None:
        reports: list[tuple[float, float]] = []

        async def report(done: float, *_: Any) -> None:
            reports.append((done, time.monotonic()))

        await peer.call("sleep", {"ms": SLEEP_MS, "steps": 4}, progress_callback=report)
        ended = time.monotonic()
        assert len(reports) >= 4, reports
        assert ended - reports[0][1] >= SLEEP_MS / 3000, "buffered, not streamed"

    await peer.step("lists the tools", lists)
    await peer.step("calls them: text, numbers, failures", calls)
    await peer.step("receives progress while one sleeps", progress)


async def main(url: str) -> None:
    async with connected(url, "demo, auto", "auto", MODERN, capable=False) as peer:
        await demo(peer)
    async with connected(url, "demo, legacy", "legacy", "2025-11-25", capable=False) as peer:
        await demo(peer)


if __name__ == "__main__":
    run(main, __doc__)
