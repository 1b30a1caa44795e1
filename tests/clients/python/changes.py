"""News from the server: updated resources, changed lists. Sessions subscribe; the modern lane listens."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.client.subscriptions import PromptsListChanged, ResourceUpdated, ToolsListChanged
from mcp_types import (
    PromptListChangedNotification,
    ResourceUpdatedNotification,
    ToolListChangedNotification,
)

from steps import Peer, refused, until

WATCHED = "test://watched-resource"
# Longer than the server collects changes before it tells of them.
NOTHING_COMES_S = 0.25


async def works(peer: Peer, tool: str) -> None:
    result = await peer.call(tool)
    assert not result.is_error, result


async def tool_names(peer: Peer) -> list[str]:
    return [tool.name for tool in (await peer.client.list_tools()).tools]


async def prompt_names(peer: Peer) -> list[str]:
    return [prompt.name for prompt in (await peer.client.list_prompts()).prompts]


CHANGES: list[tuple[str, type, Callable[[Peer], Awaitable[list[str]]]]] = [
    ("test_trigger_tool_change", ToolListChangedNotification, tool_names),
    ("test_trigger_prompt_change", PromptListChangedNotification, prompt_names),
]


async def sessions(peer: Peer) -> None:
    client = peer.client

    async def hears(kind: type, tool: str) -> list[Any]:
        since = len(peer.heard)
        await works(peer, tool)

        async def came() -> bool:
            return bool(peer.told(kind, since))

        await until(kind.__name__, came)
        await anyio.sleep(NOTHING_COMES_S)
        told = peer.told(kind, since)
        assert len(told) == 1, told
        return told

    async def hears_nothing() -> None:
        since = len(peer.heard)
        await works(peer, "test_touch_watched_resource")
        await anyio.sleep(NOTHING_COMES_S)
        assert peer.told(ResourceUpdatedNotification, since) == []

    async def updates() -> None:
        await hears_nothing()
        await client.subscribe_resource(WATCHED)
        for _ in range(2):
            [told] = await hears(ResourceUpdatedNotification, "test_touch_watched_resource")
            assert str(told.uri) == WATCHED, told
        await client.unsubscribe_resource(WATCHED)
        await hears_nothing()

    async def lists() -> None:
        for tool, kind, names in CHANGES:
            before = await names(peer)
            await hears(kind, tool)
            assert await names(peer) != before, before

    await peer.step("is told of updates to what it subscribed to, until it unsubscribes", updates)
    await peer.step("is told that the tools and the prompts have changed", lists)


async def listeners(peer: Peer) -> None:
    client = peer.client

    async def next_event(subscription: Any, seconds: float = 3) -> Any:
        with anyio.move_on_after(seconds):
            return await anext(subscription)
        return None

    async def updates() -> None:
        since = len(peer.heard)
        async with client.listen(resource_subscriptions=[WATCHED]) as subscription:
            assert subscription.honored.resource_subscriptions == [WATCHED], subscription.honored
            for _ in range(2):
                await works(peer, "test_touch_watched_resource")
                assert await next_event(subscription) == ResourceUpdated(uri=WATCHED)
        await works(peer, "test_touch_watched_resource")
        await anyio.sleep(NOTHING_COMES_S)
        # Every message is handed to the client's handler as well, in a task of its own.
        told = peer.told(ResourceUpdatedNotification, since)
        assert [str(update.uri) for update in told] == [WATCHED, WATCHED], told

    async def lists() -> None:
        async with client.listen(tools_list_changed=True) as tools, client.listen(prompts_list_changed=True) as prompts:
            before = await tool_names(peer)
            await works(peer, "test_trigger_tool_change")
            assert await next_event(tools) == ToolsListChanged()
            assert await tool_names(peer) != before
            assert await next_event(prompts, NOTHING_COMES_S) is None
            await works(peer, "test_trigger_prompt_change")
            assert await next_event(prompts) == PromptsListChanged()
            assert await next_event(tools, NOTHING_COMES_S) is None

    async def nothing() -> None:
        async with client.listen() as subscription:
            with anyio.fail_after(3):
                assert [event async for event in subscription] == []

    async def older_kind() -> None:
        assert await refused(client.subscribe_resource(WATCHED))

    await peer.step("listens for updates of a resource, until it closes", updates)
    await peer.step("listens for changed tools and prompts, each where it was asked for", lists)
    await peer.step("listens for nothing: ended at once, gracefully", nothing)
    await peer.step("finds no subscriptions of the older kind", older_kind)
