"""The server asks the client: elicitation, sampling, roots, on a stream of the call or by `input_required`."""

from typing import Any

import anyio
from mcp.client import InputRequiredRoundsExceededError
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

from steps import Peer, fail, refuse, refused, text

USER = {"username": "testuser", "email": "test@example.com"}


def accept(content: dict[str, Any]) -> Any:
    return lambda _params: ElicitResult(action="accept", content=content)


def says(words: str) -> Any:
    content = TextContent(type="text", text=words)
    return lambda _params: CreateMessageResult(role="assistant", model="test-model", content=content)


def filled_in(params: Any) -> ElicitResult:
    """Something of the right type for every property."""
    value = {"string": "Alice", "boolean": True, "integer": 1, "number": 1}
    properties = params.requested_schema["properties"]
    return ElicitResult(action="accept", content={name: value[schema["type"]] for name, schema in properties.items()})


async def elicitation(peer: Peer) -> None:
    async def gives() -> None:
        peer.asked.clear()
        peer.answers = {"elicitation": accept(USER)}
        result = await peer.call("test_elicitation", {"message": "Who are you?"})
        [(what, params)] = peer.asked
        assert (what, params.message) == ("elicitation", "Who are you?"), peer.asked
        assert sorted(params.requested_schema["required"]) == ["email", "username"], params
        assert not result.is_error and "action=accept" in text(result), result
        assert all(value in text(result) for value in USER.values()), result

    async def declines() -> None:
        for action in ("decline", "cancel"):
            peer.answers = {"elicitation": lambda _params, action=action: ElicitResult(action=action)}
            result = await peer.call("test_elicitation", {"message": "Well?"})
            assert not result.is_error and f"action={action}" in text(result), result

    newer = peer.version >= "2025-11-25"

    async def offered() -> None:
        peer.asked.clear()
        filled = {"name": "John Doe", "age": 30, "score": 88, "status": "active", "verified": True}
        peer.answers = {"elicitation": accept(filled)}
        result = await peer.call("test_elicitation_sep1034_defaults")
        assert not result.is_error and "88" in text(result), result
        properties = peer.asked[0][1].requested_schema["properties"]
        defaults = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
        assert defaults == (filled | {"score": 95.5} if newer else {"verified": True}), defaults

    async def choices() -> None:
        def choose(params: Any) -> ElicitResult:
            properties = params.requested_schema["properties"]
            content = {
                "untitledSingle": properties["untitledSingle"]["enum"][0],
                "titledSingle": properties["titledSingle"]["oneOf"][0]["const"],
                "legacyEnum": properties["legacyEnum"]["enum"][0],
                "untitledMulti": [properties["untitledMulti"]["items"]["enum"][0]],
                "titledMulti": [properties["titledMulti"]["items"]["anyOf"][0]["const"]],
            }
            return ElicitResult(action="accept", content=content)

        peer.asked.clear()
        peer.answers = {"elicitation": choose}
        result = await peer.call("test_elicitation_sep1330_enums")
        # Choosing several came with 2025-11-25: where it cannot be asked, the tool fails and nothing is asked.
        assert bool(result.is_error) is not newer and len(peer.asked) == int(newer), (result, peer.asked)

    async def many() -> None:
        count = 12
        got: dict[int, str] = {}

        async def answer(params: Any) -> ElicitResult:
            await anyio.sleep(0.02 * (count - int(params.message)))
            return ElicitResult(action="accept", content=USER | {"username": f"user {params.message}"})

        async def one(i: int) -> None:
            got[i] = text(await peer.call("test_elicitation", {"message": str(i)}))

        peer.answers = {"elicitation": answer}
        async with anyio.create_task_group() as group:
            for i in range(count):
                group.start_soon(one, i)
        assert len(got) == count and all(f'user {i}"' in words for i, words in got.items()), got

    async def wrong_shape() -> None:
        peer.answers = {"elicitation": accept({"username": True})}
        call = peer.call("test_elicitation", {"message": "Well?"})
        if peer.modern:
            # It comes back with its answer and is asked again, until it gives up.
            try:
                fail(f"was answered: {await call}")
            except InputRequiredRoundsExceededError:
                pass
        else:
            result = await call
            assert result.is_error, result

    await peer.step("is asked for input and gives it", gives)
    await peer.step("gives an answer of the wrong shape: the call fails", wrong_shape)
    await peer.step("declines, and dismisses", declines)
    await peer.step("is offered defaults as its revision knows them", offered)
    await peer.step("is offered choices as its revision knows them", choices)
    await peer.step("answers many questions at once, the last first: each call gets its own", many)


async def no_elicitation(peer: Peer) -> None:
    """Elicitation came with 2025-06-18: before, the tool fails and nothing is asked, whatever the client declared."""

    async def fails() -> None:
        peer.asked.clear()
        result = await peer.call("test_elicitation", {"message": "Well?"})
        assert result.is_error and peer.asked == [], (result, peer.asked)

    await peer.step("is not asked what its revision does not know", fails)


async def sampling(peer: Peer) -> None:
    async def gives() -> None:
        peer.asked.clear()
        words = 'It is 42.\u2028"Really."'
        peer.answers = {"sampling": says(words)}
        result = await peer.call("test_sampling", {"prompt": "What is it?"})
        assert not result.is_error and text(result) == f"LLM response: {words}", result
        [(what, params)] = peer.asked
        assert (what, params.max_tokens) == ("sampling", 100), peer.asked
        [message] = params.messages
        assert (message.role, message.content.text) == ("user", "What is it?"), message

    async def refuses() -> None:
        peer.answers = {"sampling": refuse("The user said no.")}
        call = peer.call("test_sampling", {"prompt": "Please?"})
        if peer.modern:
            assert "said no" in (await refused(call)).message
        else:
            # The server learns of it, and the tool fails.
            result = await call
            assert result.is_error, result
        assert text(await peer.call("greet", {"name": "next"})) == "Hello, next!"

    await peer.step("is asked for a completion and gives it", gives)
    await peer.step("refuses: the call fails, and the next one works", refuses)


async def roots(peer: Peer) -> None:
    async def gives() -> None:
        peer.asked.clear()
        listed = ListRootsResult(roots=[Root(uri="file:///home/you/project", name="project")])
        peer.answers = {"roots": lambda _params: listed}
        result = await peer.call("test_input_required_result_list_roots")
        assert not result.is_error and "file:///home/you/project" in text(result), result
        assert [what for what, _ in peer.asked] == ["roots"], peer.asked
        if not peer.modern:
            await peer.client.send_roots_list_changed()

    await peer.step("is asked for its roots and gives them", gives)


async def rounds(peer: Peer) -> None:
    """What only the modern lane has: several rounds, several questions at once."""
    everything = {
        "elicitation": filled_in,
        "sampling": says("Sampled."),
        "roots": lambda _params: ListRootsResult(roots=[]),
    }

    async def asks(expected: list[str], call: Any) -> Any:
        peer.asked.clear()
        peer.answers = everything
        result = await call
        assert sorted(what for what, _ in peer.asked) == expected, peer.asked
        return result

    async def completes() -> None:
        every = ["elicitation", "roots", "sampling"]
        for name, expected in [
            ("elicitation", ["elicitation"]),
            ("sampling", ["sampling"]),
            ("request_state", ["elicitation"]),
            ("multiple_inputs", every),
            ("multi_round", ["elicitation", "elicitation"]),
            ("tampered_state", ["elicitation"]),
            ("capabilities", every),
        ]:
            result = await asks(expected, peer.call(f"test_input_required_result_{name}"))
            assert not result.is_error and text(result), result

    async def prompt() -> None:
        result = await asks(["elicitation"], peer.client.get_prompt("test_input_required_result_prompt"))
        assert result.messages, result

    await peer.step("answers in one round, in two, and three questions at once", completes)
    await peer.step("answers before it gets a prompt", prompt)


async def nothing_declared(peer: Peer) -> None:
    """A client that declared nothing: a tool that must ask it fails, whatever the era."""

    async def fails() -> None:
        for name, arguments in (("test_sampling", {"prompt": "x"}), ("test_elicitation", {"message": "x"})):
            if peer.modern:
                error = await refused(peer.call(name, arguments))
                assert error.code == -32021, error
                assert error.data["requiredCapabilities"], error.data
            else:
                result = await peer.call(name, arguments)
                assert result.is_error, result

    await peer.step("declared nothing, is asked nothing", fails)
