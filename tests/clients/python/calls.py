"""Calls that last: progress and log messages while they run, and what becomes of one that nobody waits for any more."""

import time
from typing import Any

import anyio
from mcp_types import INVALID_PARAMS, LoggingMessageNotification

from steps import Peer, refused, text, until

SPOKEN = ["Tool execution started", "Tool processing data", "Tool execution completed"]
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
ENDLESS_MS = 60_000
# Long enough for a call to be seen running, on a machine that is busy.
PATIENCE_S = 0.8


async def progress(peer: Peer) -> None:
    async def streams() -> None:
        reports: list[tuple[float, float | None, float]] = []

        async def report(done: float, total: float | None, _message: str | None) -> None:
            reports.append((done, total, time.monotonic()))

        result = await peer.call("test_tool_with_progress", progress_callback=report)
        ended = time.monotonic()
        assert not result.is_error and text(result), result
        assert [(done, total) for done, total, _ in reports] == [(0, 100), (50, 100), (100, 100)], reports
        lead = ended - reports[0][2]
        assert lead >= 0.08, f"the first report came {lead:.3f} s before the result: buffered, not streamed"

    await peer.step("receives progress while a tool runs", streams)


async def logging(peer: Peer) -> None:
    async def logged(level: str | None, count: int) -> None:
        options: dict[str, Any] = {}
        if not peer.modern and level is not None:
            await peer.client.set_logging_level(level)
        elif level is not None:
            options["meta"] = {LOG_LEVEL: level}
        before = len(peer.heard)
        result = await peer.call("test_tool_with_logging", **options)
        assert not result.is_error, result

        async def came() -> bool:
            # This client hands messages over in a task of their own: they may come after the result.
            return len(peer.told(LoggingMessageNotification, before)) >= count

        await until(f"{count} log messages", came)
        if count == 0:
            await anyio.sleep(0.05)
        messages = [(message.level, message.data) for message in peer.told(LoggingMessageNotification, before)]
        assert messages == [("info", message) for message in SPOKEN[:count]], messages

    async def levels() -> None:
        await logged("info", 3)
        await logged("debug", 3)
        await logged("error", 0)
        await logged(None, 0)
        await logged("info", 3)

    await peer.step("receives the log messages that it asked for, and is spared the others", levels)


async def cancellation(peer: Peer) -> None:
    async def waiting(label: str) -> int:
        return int(text(await peer.call("test_waiting", {"label": label})))

    async def abandoned(label: str, patience: float | None, progress: Any) -> None:
        """Starts a call that lasts, gives up on it, and asserts that it ends at once here and soon there."""
        gone = anyio.Event()

        async def running() -> bool:
            return await waiting(label) == 1

        async def lasting(scope: anyio.CancelScope) -> None:
            with scope:
                arguments = {"label": label, "ms": ENDLESS_MS}
                call = peer.call("test_wait", arguments, progress_callback=progress, read_timeout_seconds=patience)
                if patience is None:
                    raise AssertionError(f"was answered: {await call}")
                await refused(call)
            gone.set()

        async with anyio.create_task_group() as group:
            scope = anyio.CancelScope()
            group.start_soon(lasting, scope)
            await until("the start of the call", running)
            if patience is None:
                scope.cancel()
            with anyio.fail_after(2 * PATIENCE_S):
                await gone.wait()

        async def stopped() -> bool:
            return await waiting(label) == 0

        await until(f"the end of {label} on the server", stopped)

    async def ignored(*_: Any) -> None:
        pass

    async def cancels() -> None:
        await abandoned(f"python {peer.label} cancelled", None, ignored)
        # Without progress nothing has been sent, and so no stream been opened, when the call is cancelled.
        await abandoned(f"python {peer.label} silent", None, None)
        assert text(await peer.call("greet", {"name": "next"})) == "Hello, next!"

    async def loses_patience() -> None:
        await abandoned(f"python {peer.label} timed out", PATIENCE_S, ignored)

    await peer.step("cancels a running call, which stops on the server", cancels)
    await peer.step("runs out of patience with a call, which stops on the server", loses_patience)


async def bad_level(peer: Peer) -> None:
    async def named() -> None:
        error = await refused(peer.call("test_tool_with_logging", meta={LOG_LEVEL: "loud"}))
        assert error.code == INVALID_PARAMS, error

    if peer.modern:
        await peer.step("names a log level that there is not: -32602", named)
