// The TypeScript SDK 1.x: handshake, session, calls, progress, termination.
import { strict as assert } from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { EmptyResultSchema, ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import {
  assertDemoTools,
  assertGivesUp,
  assertNoCrossedAnswers,
  assertProgressStreams,
  complaints,
  everyPage,
  main,
  recorder,
  rejection,
  text,
} from './steps.mjs';

async function connect(url, options = {}) {
  const wire = recorder();
  const transport = new StreamableHTTPClientTransport(url, { fetch: wire.fetch, ...options });
  const client = new Client({ name: 'twolane-legacy-test', version: '1.0.0' });
  const errors = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  return { client, transport, errors, exchanges: wire.exchanges };
}

async function until(what, condition) {
  for (let i = 0; i < 100; i += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`${what}: not within 2 s`);
}

await main('sdk 1.x', async (url, step) => {
  const first = await step('connects and gets a session', async () => {
    const peer = await connect(url);
    assert.match(peer.transport.sessionId ?? '', /^[\x21-\x7e]+$/);
    assert.equal(peer.transport.protocolVersion, '2025-11-25');
    assert.ok(peer.client.getServerVersion()?.name);
    assert.ok(peer.client.getServerCapabilities()?.tools);
    return peer;
  });
  const { client, transport } = first;
  const call = (name) => (args, onprogress) => client.callTool({ name, arguments: args }, undefined, { onprogress });

  await step('has its initialized notification accepted with 202', async () => {
    const sent = first.exchanges.find((e) => String(e.body).includes('notifications/initialized'));
    assert.equal(sent?.status, 202);
    assert.equal(sent.got.get('content-length'), '0');
  });

  await step('opens an event stream', async () => {
    await until('GET', () => first.exchanges.some((e) => e.verb === 'GET' && e.status !== undefined));
    const opened = first.exchanges.find((e) => e.verb === 'GET');
    assert.equal(opened.status, 200);
    assert.equal(opened.got.get('content-type'), 'text/event-stream');
  });

  await step('lists the tools, page by page', async () => {
    assertDemoTools(await everyPage((cursor) => client.listTools(cursor === undefined ? {} : { cursor })));
  });

  await step('calls echo', async () => {
    const message = 'hällo, "wörld"\n\u2028 \u{1F980}';
    assert.equal(text(await call('echo')({ message })), message);
  });

  await step('calls add', async () => {
    assert.equal(Number(text(await call('add')({ a: 40, b: 2 }))), 42);
  });

  await step('calls fail: a result with isError, not an exception', async () => {
    const result = await call('fail')({});
    assert.equal(result.isError, true);
    assert.ok(text(result).length > 0);
  });

  await step('sends wrong arguments: a result with isError', async () => {
    const result = await call('add')({ a: 'forty', b: 2 });
    assert.equal(result.isError, true);
    assert.ok(text(result).length > 0);
  });

  await step('receives progress while sleep runs', () => assertProgressStreams(call('sleep')));

  await step('calls an unknown tool: -32602', async () => {
    const error = await rejection(call('no-such-tool')({}));
    assert.equal(error.code, ErrorCode.InvalidParams);
  });

  await step('calls an unknown method: -32601', async () => {
    const error = await rejection(client.request({ method: 'no/such-method' }, EmptyResultSchema));
    assert.equal(error.code, ErrorCode.MethodNotFound);
  });

  await step('pings', async () => {
    assert.deepEqual(await client.ping(), {});
  });

  await step('gets its own answer among many calls', () => assertNoCrossedAnswers(call('echo')));

  await step('gives up on a call, and the session stays usable', () =>
    assertGivesUp(
      (args, signal) => client.callTool({ name: 'sleep', arguments: args }, undefined, { signal }),
      async () => assert.deepEqual(await client.ping(), {}),
    ));

  const ended = await step('terminates the session', async () => {
    const id = transport.sessionId;
    await transport.terminateSession();
    const deletion = first.exchanges.find((e) => e.verb === 'DELETE');
    assert.equal(deletion?.status, 200);
    assert.equal(transport.sessionId, undefined);
    return id;
  });

  await step('finds the terminated session gone: 404 on POST, GET and DELETE', async () => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      'mcp-session-id': ended,
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const post = await fetch(url, { method: 'POST', headers, body });
    assert.equal(post.status, 404);
    assert.equal((await post.json()).id, 1);
    for (const method of ['GET', 'DELETE']) {
      const answer = await fetch(url, { method, headers });
      assert.equal(answer.status, 404, method);
      await answer.arrayBuffer();
    }
  });

  await step('saw no transport error so far', async () => {
    assert.deepEqual(complaints(first), []);
    await client.close();
  });

  await step('reconnects with a fresh session', async () => {
    const again = await connect(url);
    assert.ok(again.transport.sessionId);
    assert.notEqual(again.transport.sessionId, ended);
    assert.equal(text(await again.client.callTool({ name: 'echo', arguments: { message: 'again' } })), 'again');
    await again.transport.terminateSession();
    await again.client.close();
  });
});
