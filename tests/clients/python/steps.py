"""What the Python scripts share: counted steps, a client with everything it hears, one deadline."""

import sys
import time
import warnings
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NoReturn
from unittest import mock

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ErrorData, TextContent
from mcp_types.version import LATEST_HANDSHAKE_VERSION

MODERN = "2026-07-28"
DEADLINE_S = 120

passed = 0
current = "start"


async def step(what: str, run: Callable[[], Awaitable[Any]]) -> Any:
    global passed, current
    current = what
    value = await run()
    passed += 1
    print(f"ok python: {what}", flush=True)
    return value


def run(main: Callable[[str], Awaitable[None]], doc: str | None) -> None:
    """Runs `main(url)`; says which step failed, and counts."""
    if len(sys.argv) != 2:
        sys.exit(doc)
    warnings.simplefilter("ignore", MCPDeprecationWarning)

    async def within_deadline() -> None:
        with anyio.fail_after(DEADLINE_S):
            await main(sys.argv[1])

    try:
        anyio.run(within_deadline)
    except BaseException:
        print(f"not ok python: {current}", flush=True)
        raise
    if passed == 0:
        sys.exit("no step ran")
    print(f"python: {passed} passed, 0 failed")


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


async def until(what: str, condition: Callable[[], Awaitable[Any]], seconds: float = 3) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := await condition()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        await anyio.sleep(0.01)
    return value


async def every_page(kind: str, page: Callable[[str | None], Awaitable[Any]]) -> list[Any]:
    entries: list[Any] = []
    seen: set[str] = set()
    cursor = None
    while True:
        result = await page(cursor)
        entries += getattr(result, kind)
        cursor = result.next_cursor
        if cursor is None:
            return entries
        assert cursor not in seen, f"cursor {cursor} came twice"
        seen.add(cursor)


class Peer:
    """A client, what it heard, what it was asked and what it will answer."""

    def __init__(self, label: str, version: str) -> None:
        self.label = label
        self.version = version
        self.modern = version == MODERN
        self.client: Client
        self.heard: list[Any] = []
        self.faults: list[Exception] = []
        self.asked: list[tuple[str, Any]] = []
        self.answers: dict[str, Callable[[Any], Any]] = {}
        self.exchanges: list[tuple[str, int, httpx2.Headers]] = []

    async def step(self, what: str, run: Callable[[], Awaitable[Any]]) -> Any:
        return await step(f"{self.label}: {what}", run)

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
        return await self.client.call_tool(name, arguments, **options)

    async def on_message(self, message: Any) -> None:
        if isinstance(message, Exception):
            self.faults.append(message)
        else:
            self.heard.append(message)

    def told(self, kind: type, since: int = 0) -> list[Any]:
        return [message.params for message in self.heard[since:] if isinstance(message, kind)]

    async def _answer(self, what: str, params: Any) -> Any:
        self.asked.append((what, params))
        answer = self.answers[what](params)
        return await answer if isinstance(answer, Awaitable) else answer

    async def elicit(self, _context: Any, params: Any) -> Any:
        return await self._answer("elicitation", params)

    async def sample(self, _context: Any, params: Any) -> Any:
        return await self._answer("sampling", params)

    async def roots(self, _context: Any) -> Any:
        return await self._answer("roots", None)


@asynccontextmanager
async def connected(url: str, label: str, mode: str, version: str, capable: bool = True, **options: Any):
    """Opens a client in `mode` that must come to speak `version`; `capable` ones answer whatever they are asked."""
    peer = Peer(label, version)

    async def record(response: httpx2.Response) -> None:
        peer.exchanges.append((response.request.method, response.status_code, response.request.headers))

    if capable:
        options |= {
            "elicitation_callback": peer.elicit,
            "sampling_callback": peer.sample,
            "list_roots_callback": peer.roots,
        }
    async with AsyncExitStack() as stack:
        hooks = {"response": [record]}
        http = await stack.enter_async_context(httpx2.AsyncClient(event_hooks=hooks, timeout=httpx2.Timeout(30)))
        transport = streamable_http_client(url, http_client=http)
        if mode == "legacy":
            # The client always offers the newest revision that it knows.
            assert LATEST_HANDSHAKE_VERSION >= version
            stack.enter_context(mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", version))
        peer.client = await stack.enter_async_context(
            Client(transport, mode=mode, read_timeout_seconds=30, message_handler=peer.on_message, **options)
        )
        assert peer.client.protocol_version == version, peer.client.protocol_version
        yield peer


def refuse(message: str) -> Callable[[Any], ErrorData]:
    return lambda _params: ErrorData(code=-1, message=message)


def fail(message: str) -> NoReturn:
    raise AssertionError(message)
