"""The Python SDK 2.x against the fixture server, in each mode it has and on each revision it negotiates.

usage: python features.py http://HOST:PORT/mcp
"""

import asking
import calls
import changes
import primitives
from steps import MODERN, Peer, connected, run, text

LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26"]
# How often this client tries to take up one stream.
COMES_BACK = 2


async def usual(peer: Peer) -> None:
    """What every client must get, whatever its era."""
    await primitives.tools(peer)
    await primitives.resources(peer)
    await primitives.prompts(peer)
    await calls.progress(peer)
    await calls.logging(peer)
    await calls.bad_level(peer)
    await calls.cancellation(peer)
    await (asking.no_elicitation if peer.version == "2025-03-26" else asking.elicitation)(peer)
    await asking.sampling(peer)
    await asking.roots(peer)


async def not_refused(peer: Peer, verbs: set[str]) -> None:
    async def checked() -> None:
        assert len(peer.exchanges) > 60, len(peer.exchanges)
        # It comes back to the stream of a call that it has cancelled, and is told that there is nothing more.
        refused = [(verb, status, sent.get("last-event-id")) for verb, status, sent in peer.exchanges if status >= 400]
        over = [event for _, status, event in refused if status == 405 and event is not None]
        assert all(over.count(event) <= COMES_BACK for event in over), over
        refusals = [(verb, status) for verb, status, event in refused if event not in over]
        # On the modern lane a log level that does not exist is refused by status, and so is a method of the other era.
        assert refusals == ([("POST", 400), ("POST", 404)] if peer.modern else []), refusals
        assert {verb for verb, _, _ in peer.exchanges} == verbs, verbs
        assert peer.faults == [], peer.faults

    await peer.step("was refused only what it provoked, and closed cleanly", checked)


async def modern(url: str) -> None:
    async with connected(url, MODERN, MODERN, MODERN) as peer:
        await usual(peer)
        await asking.rounds(peer)
        await changes.listeners(peer)
    await not_refused(peer, {"POST"})

    async with connected(url, "auto", "auto", MODERN, capable=False, log_level="info") as peer:

        async def discovered() -> None:
            found = peer.client.session.discover_result
            assert found is not None and found.supported_versions == [MODERN, *LEGACY], found
            offered = found.capabilities
            assert offered.completions is not None and offered.logging is not None, offered
            assert (offered.tools.list_changed, offered.prompts.list_changed) == (True, True), offered
            assert offered.resources.subscribe is True, offered
            assert peer.client.server_info is not None

        await peer.step("discovers versions, capabilities and the name of the server", discovered)
        await asking.nothing_declared(peer)


async def legacy(url: str, version: str) -> None:
    async with connected(url, version, "legacy", version) as peer:

        async def offered() -> None:
            offers = peer.client.server_capabilities
            assert offers.completions is not None and offers.logging is not None, offers
            assert offers.resources.subscribe is True and offers.tools.list_changed is True, offers
            await peer.client.send_ping()

        async def resumes() -> None:
            before = len(peer.exchanges)
            assert text(await peer.call("test_reconnection"))
            resumed = [
                status for verb, status, sent in peer.exchanges[before:] if verb == "GET" and "last-event-id" in sent
            ]
            assert 200 in resumed or version != LEGACY[0], resumed

        await peer.step("is offered everything, and pings", offered)
        await usual(peer)
        await changes.sessions(peer)
        await peer.step("comes back for the result of a stream that was let go of", resumes)
    await not_refused(peer, {"POST", "GET", "DELETE"})

    async with connected(url, f"{version} again", "legacy", version, capable=False) as peer:
        await asking.nothing_declared(peer)


async def main(url: str) -> None:
    await modern(url)
    for version in LEGACY:
        await legacy(url, version)


if __name__ == "__main__":
    run(main, __doc__)
