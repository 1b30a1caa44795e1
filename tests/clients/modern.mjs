// The TypeScript client 2.x: pinned to 2026-07-28, negotiating by itself, and in its legacy mode.
import { strict as assert } from 'node:assert';
import { Client, ProtocolError, ProtocolErrorCode, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
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

const MODERN = '2026-07-28';

async function connect(url, mode) {
  const wire = recorder();
  const transport = new StreamableHTTPClientTransport(url, { fetch: wire.fetch });
  const client = new Client({ name: 'twolane-modern-test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const errors = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  const call = (name) => (args, onprogress) => client.callTool({ name, arguments: args }, { onprogress });
  return { client, transport, errors, call, exchanges: wire.exchanges };
}

/** What every client must get, whatever its era. */
async function usual(era, step, { client, call }) {
  await step(`${era}: lists the tools, page by page`, async () => {
    assertDemoTools(await everyPage((cursor) => client.listTools({ cursor })));
    assertDemoTools((await client.listTools()).tools);
  });
  await step(`${era}: calls echo`, async () => {
    const message = 'hällo, "wörld"\n\u2028 \u{1F980}';
    assert.equal(text(await call('echo')({ message })), message);
  });
  await step(`${era}: calls add`, async () => {
    assert.equal(Number(text(await call('add')({ a: 40, b: 2 }))), 42);
  });
  await step(`${era}: calls fail: a result with isError`, async () => {
    const result = await call('fail')({});
    assert.equal(result.isError, true);
    assert.ok(text(result).length > 0);
  });
  await step(`${era}: sends wrong arguments: a result with isError`, async () => {
    for (const args of [{ a: 'forty', b: 2 }, { a: 40 }]) {
      const result = await call('add')(args);
      assert.equal(result.isError, true);
      assert.ok(text(result).length > 0);
    }
  });
  await step(`${era}: receives progress while sleep runs`, () => assertProgressStreams(call('sleep')));
  await step(`${era}: calls an unknown tool: -32602`, async () => {
    const error = await rejection(call('no-such-tool')({}));
    assert.ok(ProtocolError.isInstance(error), String(error));
    assert.equal(error.code, ProtocolErrorCode.InvalidParams);
  });
  await step(`${era}: gets its own answer among many calls`, () => assertNoCrossedAnswers(call('echo')));
  await step(`${era}: gives up on a call, and the next one is answered`, () =>
    assertGivesUp(
      (args, signal) => client.callTool({ name: 'sleep', arguments: args }, { signal }),
      async () => assert.equal(text(await call('echo')({ message: 'next' })), 'next'),
    ));
}

await main('client 2.x', async (url, step) => {
  const pinned = await step(`connects, pinned to ${MODERN}`, async () => {
    const peer = await connect(url, { pin: MODERN });
    assert.equal(peer.client.getProtocolEra(), 'modern');
    assert.equal(peer.client.getNegotiatedProtocolVersion(), MODERN);
    return peer;
  });
  await step('modern: discovers versions, capabilities and the name of the server', async () => {
    const found = await pinned.client.discover();
    assert.equal(found.supportedVersions[0], MODERN);
    assert.ok(found.supportedVersions.includes('2025-11-25'), String(found.supportedVersions));
    assert.ok(found.capabilities.tools);
    assert.ok(pinned.client.getServerVersion()?.name);
  });
  await usual('modern', step, pinned);
  await step('modern: calls an unknown method: 404 with -32601', async () => {
    // Straight over HTTP: the client itself refuses to send a method of the other era.
    const body = {
      jsonrpc: '2.0',
      id: 'ping-1',
      method: 'ping',
      params: { _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} } },
    };
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': MODERN,
        'mcp-method': 'ping',
      },
      body: JSON.stringify(body),
    });
    const { id, error } = await answer.json();
    assert.deepEqual([answer.status, id, error.code], [404, 'ping-1', -32601]);
  });
  await step('modern: was never given a session, nor refused', async () => {
    assert.ok(pinned.exchanges.length > 70);
    for (const { verb, sent, status, got } of pinned.exchanges) {
      assert.equal(verb, 'POST');
      assert.ok(!sent.has('mcp-session-id') && !got?.has('mcp-session-id'));
      assert.ok(status === undefined || status < 400, `status ${status} to ${sent.get('mcp-method')}`);
    }
    assert.deepEqual(complaints(pinned), []);
    await pinned.client.close();
  });

  await step('negotiating by itself: chooses the modern era without a handshake', async () => {
    const peer = await connect(url, 'auto');
    assert.equal(peer.client.getProtocolEra(), 'modern');
    assert.equal(text(await peer.call('echo')({ message: 'auto' })), 'auto');
    assert.ok(!peer.exchanges.some((e) => String(e.body).includes('"initialize"')));
    assert.deepEqual(complaints(peer), []);
    await peer.client.close();
  });

  const legacy = await step('connects in legacy mode', async () => {
    const peer = await connect(url, 'legacy');
    assert.equal(peer.client.getProtocolEra(), 'legacy');
    assert.equal(peer.client.getNegotiatedProtocolVersion(), '2025-11-25');
    assert.ok(peer.transport.sessionId);
    return peer;
  });
  await usual('legacy', step, legacy);
  await step('legacy: pings', async () => {
    assert.deepEqual(await legacy.client.ping(), {});
  });
  await step('legacy: terminates the session', async () => {
    await legacy.transport.terminateSession();
    assert.equal(legacy.exchanges.find((e) => e.verb === 'DELETE')?.status, 200);
    assert.deepEqual(complaints(legacy), []);
    await legacy.client.close();
  });
});
