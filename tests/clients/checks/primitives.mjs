// What every client must get of tools, resources, prompts and completion, whatever its era. `peer` is what a script
// makes of its client: one interface over both.
import { strict as assert } from 'node:assert';
import { assertNamed, assertNoCrossedAnswers, everyPage, rejection, show, text } from '../steps.mjs';

const MISSING_URI = 'test://no-such-resource';
const INVALID_PARAMS = -32602;

const bytes = (base64) => Buffer.from(base64, 'base64');
const isPng = (base64) => bytes(base64).subarray(1, 4).toString() === 'PNG';

export async function tools(step, peer) {
  const { client } = peer;
  await step(`${peer.label}: lists the tools, page by page`, async () => {
    const listed = await everyPage('tools', (cursor) => client.listTools(cursor === undefined ? {} : { cursor }));
    assertNamed(listed, ['test_simple_text', 'test_tool_with_progress', 'test_sampling', 'test_elicitation', 'greet']);
    for (const tool of listed) assert.equal(tool.inputSchema.type, 'object', tool.name);
  });
  await step(`${peer.label}: lists a schema with every keyword in place`, async () => {
    const { tools: listed } = await client.listTools();
    const schema = listed.find((tool) => tool.name === 'json_schema_2020_12_tool')?.inputSchema;
    assert.equal(schema?.$schema, 'https://json-schema.org/draft/2020-12/schema');
    assert.ok(schema.$defs.address.$anchor);
    assert.equal(schema.additionalProperties, false);
    for (const keyword of ['allOf', 'if', 'then', 'else']) assert.ok(schema[keyword], keyword);
  });
  await step(`${peer.label}: calls a tool: the answer is the argument, character by character`, async () => {
    const name = 'hällo, "wörld"\n\u2028 \u{1F980}';
    assert.equal(text(await peer.call('greet', { name })), `Hello, ${name}!`);
  });
  await step(`${peer.label}: calls a tool without arguments`, async () => {
    assert.equal(text(await peer.call('test_simple_text')), 'This is a simple text response for testing.');
  });
  await step(`${peer.label}: gets an image, a sound, a resource, and all at once`, async () => {
    const [image] = (await peer.call('test_image_content')).content;
    assert.deepEqual([image.type, image.mimeType, isPng(image.data)], ['image', 'image/png', true]);
    const [sound] = (await peer.call('test_audio_content')).content;
    assert.deepEqual([sound.type, sound.mimeType], ['audio', 'audio/wav']);
    assert.equal(bytes(sound.data).subarray(0, 4).toString(), 'RIFF');
    const [embedded] = (await peer.call('test_embedded_resource')).content;
    assert.equal(embedded.type, 'resource');
    assert.equal(embedded.resource.uri, 'test://embedded-resource');
    assert.equal(embedded.resource.text, 'This is an embedded resource content.');
    const mixed = (await peer.call('test_multiple_content_types')).content;
    assert.deepEqual(
      mixed.map((block) => block.type),
      ['text', 'image', 'resource'],
    );
    assert.deepEqual(JSON.parse(mixed[2].resource.text), { test: 'data', value: 123 });
  });
  await step(`${peer.label}: calls a tool that fails: a result with isError, not an exception`, async () => {
    const result = await peer.call('test_error_handling');
    assert.equal(result.isError, true, show(result));
    assert.equal(text(result), 'This tool intentionally returns an error for testing');
  });
  await step(`${peer.label}: sends wrong arguments: a result with isError that names the argument`, async () => {
    for (const args of [{ name: 5 }, {}]) {
      const result = await peer.call('greet', args);
      assert.equal(result.isError, true, show(result));
      assert.match(text(result), /name/);
    }
  });
  await step(`${peer.label}: calls an unknown tool: -32602`, async () => {
    assert.equal(peer.code(await rejection(peer.call('no-such-tool'))), INVALID_PARAMS);
  });
  await step(`${peer.label}: turns a page that does not exist: -32602`, async () => {
    for (const list of ['listTools', 'listResources', 'listResourceTemplates', 'listPrompts']) {
      assert.equal(peer.code(await rejection(client[list]({ cursor: 'no such page' }))), INVALID_PARAMS, list);
    }
  });
  await step(`${peer.label}: gets its own answer among many calls`, () =>
    assertNoCrossedAnswers(
      (word) => peer.call('greet', { name: word }),
      (word) => `Hello, ${word}!`,
    ),
  );
}

export async function resources(step, peer) {
  const { client } = peer;
  await step(`${peer.label}: lists the resources and templates, page by page`, async () => {
    const listed = await everyPage('resources', (cursor) =>
      client.listResources(cursor === undefined ? {} : { cursor }),
    );
    assertNamed(listed, ['test://static-text', 'test://static-binary', 'test://watched-resource'], 'uri');
    const page = (cursor) => client.listResourceTemplates(cursor === undefined ? {} : { cursor });
    assertNamed(await everyPage('resourceTemplates', page), ['test://template/{id}/data'], 'uriTemplate');
  });
  await step(`${peer.label}: reads text, bytes and a template`, async () => {
    const [plain] = (await client.readResource({ uri: 'test://static-text' })).contents;
    assert.deepEqual([plain.uri, plain.mimeType], ['test://static-text', 'text/plain']);
    assert.equal(plain.text, 'This is the content of the static text resource.');
    const [binary] = (await client.readResource({ uri: 'test://static-binary' })).contents;
    assert.deepEqual([binary.uri, binary.mimeType, isPng(binary.blob)], ['test://static-binary', 'image/png', true]);
    const uri = 'test://template/4%202/data';
    const [expanded] = (await client.readResource({ uri })).contents;
    assert.deepEqual([expanded.uri, expanded.mimeType], [uri, 'application/json']);
    assert.equal(JSON.parse(expanded.text).id, '4 2');
  });
  await step(`${peer.label}: reads an unknown resource: the code of its era, and which one it was`, async () => {
    for (const uri of [MISSING_URI, 'test://template/a/b/data']) {
      const error = await rejection(client.readResource({ uri }));
      assert.equal(peer.code(error), peer.resourceNotFound, String(error));
      assert.equal(error.data?.uri, uri, show(error));
    }
  });
}

export async function prompts(step, peer) {
  const { client } = peer;
  const first = async (name, args) => (await client.getPrompt({ name, arguments: args })).messages;
  await step(`${peer.label}: lists the prompts, page by page`, async () => {
    const listed = await everyPage('prompts', (cursor) => client.listPrompts(cursor === undefined ? {} : { cursor }));
    const plain = ['test_simple_prompt', 'test_prompt_with_embedded_resource', 'test_prompt_with_image'];
    assertNamed(listed, [...plain, 'test_prompt_with_arguments']);
    const { arguments: declared } = listed.find((prompt) => prompt.name === 'test_prompt_with_arguments');
    assert.deepEqual(
      declared.map((argument) => [argument.name, argument.required]),
      [
        ['arg1', true],
        ['arg2', true],
      ],
    );
  });
  await step(`${peer.label}: gets prompts of every kind`, async () => {
    const [simple] = await first('test_simple_prompt');
    assert.deepEqual([simple.role, simple.content.type], ['user', 'text']);
    const filled = await first('test_prompt_with_arguments', { arg1: 'hällo', arg2: '"wörld"' });
    assert.match(filled[0].content.text, /hällo.*"wörld"/);
    const embedded = await first('test_prompt_with_embedded_resource', { resourceUri: 'test://example-resource' });
    assert.deepEqual(
      embedded.map((message) => message.content.type),
      ['resource', 'text'],
    );
    assert.equal(embedded[0].content.resource.uri, 'test://example-resource');
    const picture = await first('test_prompt_with_image');
    assert.deepEqual(
      picture.map((message) => message.content.type),
      ['image', 'text'],
    );
    assert.ok(isPng(picture[0].content.data));
  });
  await step(`${peer.label}: gets an unknown prompt, and one without its arguments: -32602`, async () => {
    assert.equal(peer.code(await rejection(first('no-such-prompt'))), INVALID_PARAMS);
    const error = await rejection(first('test_prompt_with_arguments', { arg1: 'alone' }));
    assert.equal(peer.code(error), INVALID_PARAMS);
    assert.match(error.message, /arg2/);
  });
  await step(`${peer.label}: completes an argument`, async () => {
    const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
    const { completion } = await client.complete({ ref, argument: { name: 'arg1', value: 'tes' } });
    assert.ok(completion.values.length > 0, show(completion));
    assert.ok(
      completion.values.every((value) => value.startsWith('tes')),
      show(completion),
    );
    const nothing = await client.complete({ ref, argument: { name: 'arg1', value: 'nothing begins like this' } });
    assert.deepEqual(nothing.completion.values, []);
  });
  await step(`${peer.label}: completes an argument of nothing: -32602`, async () => {
    for (const ref of [
      { type: 'ref/prompt', name: 'no-such-prompt' },
      { type: 'ref/resource', uri: 'test://no/{such}' },
    ]) {
      const error = await rejection(client.complete({ ref, argument: { name: 'arg1', value: '' } }));
      assert.equal(peer.code(error), INVALID_PARAMS, show(ref));
    }
  });
}
