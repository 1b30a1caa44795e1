"""The Python SDK 2.x against a running server, in each mode it has.

usage: python python_client.py http://HOST:PORT/mcp
"""

import sys
import time
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import INVALID_PARAMS, TextContent

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
DEADLINE_S = 90

passed = 0
current = "start"


async def step(what: str, run: Callable[[], Awaitable[Any]]) -> Any:
    global passed, current
    current = what
    value = await run()
    passed += 1
    print(f"ok python: {what}", flush=True)
    return value


def text(result: Any) -> str:
    block = result.content[0]
    assert isinstance(block, TextContent), result
    return block.text


async def refused(call: Awaitable[Any]) -> MCPError:
    try:
        value = await call
    except MCPError as error:
        return error
    raise AssertionError(f"expected an error, got {value!r}")


async def every_tool(client: Client) -> list[Any]:
    tools: list[Any] = []
    seen: set[str] = set()
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return tools
        assert cursor not in seen, f"cursor {cursor} came twice"
        seen.add(cursor)


async def usual(era: str, client: Client) -> None:
    """What every client must get, whatever its era."""

    async def lists() -> None:
        tools = await every_tool(client)
        names = [tool.name for tool in tools]
        for name in ("echo", "add", "sleep", "fail"):
            assert names.count(name) == 1, names
        assert all(tool.description for tool in tools), tools

    async def echo() -> None:
        message = 'hällo, "wörld"\n\u2028 \U0001f980'
        assert text(await client.call_tool("echo", {"message": message})) == message

    async def add() -> None:
        assert float(text(await client.call_tool("add", {"a": 40, "b": 2}))) == 42

    async def fail() -> None:
        result = await client.call_tool("fail", {})
        assert result.is_error and text(result), result

    async def wrong_arguments() -> None:
        for arguments in ({"a": "forty", "b": 2}, {"a": 40}):
            result = await client.call_tool("add", arguments)
            assert result.is_error and text(result), result

    async def progress() -> None:
        reports: list[tuple[float, float]] = []

        async def report(done: float, total: float | None, message: str | None) -> None:
            reports.append((done, time.monotonic()))

        steps = 4
        result = await client.call_tool("sleep", {"ms": 600, "steps": steps}, progress_callback=report)
        ended = time.monotonic()
        assert not result.is_error, result
        assert len(reports) >= steps, reports
        done = [report[0] for report in reports]
        assert done == sorted(set(done)), f"progress must rise: {done}"
        lead = ended - reports[0][1]
        assert lead >= 0.2, f"the first report came {lead:.3f} s before the result: buffered, not streamed"

    async def unknown_tool() -> None:
        error = await refused(client.call_tool("no-such-tool", {}))
        assert error.code == INVALID_PARAMS, error

    async def many() -> None:
        messages = [f"message {i} " + "·" * i for i in range(32)]
        answers: dict[str, str] = {}

        async def one(message: str) -> None:
            answers[message] = text(await client.call_tool("echo", {"message": message}))

        async with anyio.create_task_group() as group:
            for message in messages:
                group.start_soon(one, message)
        assert answers == {message: message for message in messages}

    async def gives_up() -> None:
        with anyio.move_on_after(0.1) as scope:
            await client.call_tool("sleep", {"ms": 10_000, "steps": 1})
        assert scope.cancelled_caught
        assert text(await client.call_tool("echo", {"message": "next"})) == "next"

    await step(f"{era}: lists the tools, page by page", lists)
    await step(f"{era}: calls echo", echo)
    await step(f"{era}: calls add", add)
    await step(f"{era}: calls fail: a result with isError", fail)
    await step(f"{era}: sends wrong arguments: a result with isError", wrong_arguments)
    await step(f"{era}: receives progress while sleep runs", progress)
    await step(f"{era}: calls an unknown tool: -32602", unknown_tool)
    await step(f"{era}: gets its own answer among many calls", many)
    await step(f"{era}: gives up on a call, and the next one is answered", gives_up)


async def connected(url: str, mode: str, era: str, version: str, body: Callable[[Client], Awaitable[None]]) -> None:
    """Opens a client in `mode`, asserts what it negotiated and that the server refused nothing by status."""
    statuses: list[tuple[str, int]] = []

    async def record(response: httpx2.Response) -> None:
        statuses.append((response.request.method, response.status_code))

    async with httpx2.AsyncClient(event_hooks={"response": [record]}, timeout=httpx2.Timeout(30)) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=30) as client:

            async def negotiated() -> None:
                assert client.protocol_version == version, client.protocol_version
                assert client.server_capabilities.tools is not None or mode == MODERN
                assert mode == MODERN or client.server_info is not None

            await step(f"{era}: connects and speaks {version}", negotiated)
            await body(client)

    async def not_refused() -> None:
        assert statuses
        assert all(status < 400 for _, status in statuses), statuses
        verbs = {verb for verb, _ in statuses}
        expected = {"POST", "GET", "DELETE"} if version == LEGACY else {"POST"}
        assert verbs == expected, verbs

    await step(f"{era}: was not refused, and closed cleanly", not_refused)


async def main(url: str) -> None:
    async def auto(client: Client) -> None:
        async def discovered() -> None:
            found = client.session.discover_result
            assert found is not None
            assert found.supported_versions[0] == MODERN, found
            assert LEGACY in found.supported_versions, found

        await step("modern: discovers the versions", discovered)
        await usual("modern", client)

    async def pinned(client: Client) -> None:
        async def echo() -> None:
            assert text(await client.call_tool("echo", {"message": "pinned"})) == "pinned"

        await step("pinned: calls echo without asking anything first", echo)

    async def legacy(client: Client) -> None:
        await usual("legacy", client)

        async def ping() -> None:
            await client.send_ping()

        await step("legacy: pings", ping)

    with anyio.fail_after(DEADLINE_S):
        await connected(url, "auto", "modern", MODERN, auto)
        await connected(url, MODERN, "pinned", MODERN, pinned)
        await connected(url, "legacy", "legacy", LEGACY, legacy)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    try:
        anyio.run(main, sys.argv[1])
    except BaseException:
        print(f"not ok python: {current}", flush=True)
        raise
    print(f"python: {passed} passed, 0 failed")
