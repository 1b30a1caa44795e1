"""Tools, resources, prompts, completion: what a client must get, whatever its era."""

import base64
import json
from typing import Any

import anyio
from mcp_types import INVALID_PARAMS, PromptReference, ResourceTemplateReference

from steps import Peer, every_page, refused, text

RESOURCE_NOT_FOUND = -32002


def is_png(data: str) -> bool:
    return base64.b64decode(data, validate=True)[1:4] == b"PNG"


def assert_named(entries: list[Any], names: list[str], key: str = "name") -> None:
    found = [str(getattr(entry, key)) for entry in entries]
    for name in names:
        assert found.count(name) == 1, f"{name} in {found}"
    assert all(entry.description for entry in entries), entries


async def tools(peer: Peer) -> None:
    client = peer.client

    async def lists() -> None:
        listed = await every_page("tools", lambda cursor: client.list_tools(cursor=cursor))
        assert_named(
            listed, ["test_simple_text", "test_tool_with_progress", "test_sampling", "test_elicitation", "greet"]
        )
        schema = next(tool.input_schema for tool in listed if tool.name == "json_schema_2020_12_tool")
        assert schema["$defs"]["address"]["$anchor"], schema
        assert schema["additionalProperties"] is False, schema
        assert {"allOf", "if", "then", "else"} <= schema.keys(), schema

    async def greet() -> None:
        name = 'hällo, "wörld"\n\u2028 \U0001f980'
        assert text(await peer.call("greet", {"name": name})) == f"Hello, {name}!"
        assert text(await peer.call("test_simple_text")) == "This is a simple text response for testing."

    async def kinds() -> None:
        [image] = (await peer.call("test_image_content")).content
        assert (image.type, image.mime_type, is_png(image.data)) == ("image", "image/png", True), image
        [sound] = (await peer.call("test_audio_content")).content
        assert (sound.type, sound.mime_type) == ("audio", "audio/wav"), sound
        [embedded] = (await peer.call("test_embedded_resource")).content
        assert str(embedded.resource.uri) == "test://embedded-resource", embedded
        mixed = (await peer.call("test_multiple_content_types")).content
        assert [block.type for block in mixed] == ["text", "image", "resource"], mixed
        assert json.loads(mixed[2].resource.text) == {"test": "data", "value": 123}, mixed

    async def fails() -> None:
        result = await peer.call("test_error_handling")
        assert result.is_error, result
        assert text(result) == "This tool intentionally returns an error for testing"

    async def wrong_arguments() -> None:
        for arguments in ({"name": 5}, {}):
            result = await peer.call("greet", arguments)
            assert result.is_error and "name" in text(result), result

    async def unknown() -> None:
        error = await refused(peer.call("no-such-tool"))
        assert error.code == INVALID_PARAMS, error
        for page in (client.list_tools, client.list_resources, client.list_resource_templates, client.list_prompts):
            error = await refused(page(cursor="no such page"))
            assert error.code == INVALID_PARAMS, (page, error)

    async def many() -> None:
        names = [f"{i} " + "·" * i for i in range(32)]
        answers: dict[str, str] = {}

        async def one(name: str) -> None:
            answers[name] = text(await peer.call("greet", {"name": name}))

        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(one, name)
        assert answers == {name: f"Hello, {name}!" for name in names}

    await peer.step("lists the tools, page by page, schemas as written", lists)
    await peer.step("calls tools: the answer is the argument, character by character", greet)
    await peer.step("gets an image, a sound, a resource, and all at once", kinds)
    await peer.step("calls a tool that fails: a result with isError", fails)
    await peer.step("sends wrong arguments: a result with isError that names the argument", wrong_arguments)
    await peer.step("calls an unknown tool, turns a page that does not exist: -32602", unknown)
    await peer.step("gets its own answer among many calls", many)


async def resources(peer: Peer) -> None:
    client = peer.client

    async def lists() -> None:
        listed = await every_page("resources", lambda cursor: client.list_resources(cursor=cursor))
        assert_named(listed, ["test://static-text", "test://static-binary", "test://watched-resource"], "uri")
        templates = await every_page("resource_templates", lambda cursor: client.list_resource_templates(cursor=cursor))
        assert_named(templates, ["test://template/{id}/data"], "uri_template")

    async def reads() -> None:
        [plain] = (await client.read_resource("test://static-text")).contents
        assert plain.mime_type == "text/plain", plain
        assert plain.text == "This is the content of the static text resource.", plain
        [binary] = (await client.read_resource("test://static-binary")).contents
        assert (binary.mime_type, is_png(binary.blob)) == ("image/png", True), binary
        uri = "test://template/4%202/data"
        [expanded] = (await client.read_resource(uri)).contents
        assert (str(expanded.uri), expanded.mime_type) == (uri, "application/json"), expanded
        assert json.loads(expanded.text)["id"] == "4 2", expanded

    async def unknown() -> None:
        for uri in ("test://no-such-resource", "test://template/a/b/data"):
            error = await refused(client.read_resource(uri))
            assert error.code == (INVALID_PARAMS if peer.modern else RESOURCE_NOT_FOUND), error
            assert error.data["uri"] == uri, error.data

    await peer.step("lists the resources and templates, page by page", lists)
    await peer.step("reads text, bytes and a template", reads)
    await peer.step("reads an unknown resource: the code of its era, and which one it was", unknown)


async def prompts(peer: Peer) -> None:
    client = peer.client

    async def messages(name: str, arguments: dict[str, str] | None = None) -> list[Any]:
        return (await client.get_prompt(name, arguments)).messages

    async def lists() -> None:
        listed = await every_page("prompts", lambda cursor: client.list_prompts(cursor=cursor))
        assert_named(listed, ["test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_image"])
        [declared] = [prompt.arguments for prompt in listed if prompt.name == "test_prompt_with_arguments"]
        assert [(argument.name, argument.required) for argument in declared] == [("arg1", True), ("arg2", True)], (
            declared
        )

    async def gets() -> None:
        [simple] = await messages("test_simple_prompt")
        assert (simple.role, simple.content.type) == ("user", "text"), simple
        filled = (await messages("test_prompt_with_arguments", {"arg1": "hällo", "arg2": '"wörld"'}))[0].content.text
        assert "hällo" in filled and '"wörld"' in filled, filled
        embedded = await messages("test_prompt_with_embedded_resource", {"resourceUri": "test://example-resource"})
        assert [message.content.type for message in embedded] == ["resource", "text"], embedded
        assert str(embedded[0].content.resource.uri) == "test://example-resource", embedded
        picture = await messages("test_prompt_with_image")
        assert [message.content.type for message in picture] == ["image", "text"], picture
        assert is_png(picture[0].content.data)

    async def unknown() -> None:
        error = await refused(messages("no-such-prompt"))
        assert error.code == INVALID_PARAMS, error
        error = await refused(messages("test_prompt_with_arguments", {"arg1": "alone"}))
        assert error.code == INVALID_PARAMS and "arg2" in error.message, error

    async def completes() -> None:
        prompt = PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
        values = (await client.complete(prompt, {"name": "arg1", "value": "tes"})).completion.values
        assert values and all(value.startswith("tes") for value in values), values
        assert (await client.complete(prompt, {"name": "arg1", "value": "nothing begins so"})).completion.values == []
        nowhere = PromptReference(type="ref/prompt", name="no-such-prompt")
        neither = ResourceTemplateReference(type="ref/resource", uri="test://no/{such}")
        for ref in (nowhere, neither):
            error = await refused(client.complete(ref, {"name": "arg1", "value": ""}))
            assert error.code == INVALID_PARAMS, error

    await peer.step("lists the prompts, page by page", lists)
    await peer.step("gets prompts of every kind", gets)
    await peer.step("gets an unknown prompt, and one without its arguments: -32602", unknown)
    await peer.step("completes an argument, and nothing else: -32602", completes)
