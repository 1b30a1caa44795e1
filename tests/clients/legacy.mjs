// The TypeScript SDK 1.x: handshake, session, and all that a session is good for, on each revision it negotiates.
import { strict as assert } from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  EmptyResultSchema,
  ErrorCode,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as asking from './checks/asking.mjs';
import * as calls from './checks/calls.mjs';
import * as changes from './checks/changes.mjs';
import * as primitives from './checks/primitives.mjs';
import { endOfSession, resumption } from './checks/session.mjs';
import { main, recorder, rejection, text } from './steps.mjs';

const NEWEST = '2025-11-25';
const REVISIONS = [NEWEST, '2025-06-18', '2025-03-26'];
const EVERYTHING = { sampling: {}, elicitation: {}, roots: { listChanged: true } };

/** The client always offers the newest revision that it knows: another one is put into its first message. */
function offering(revision) {
  return (body) => {
    const message = JSON.parse(body);
    if (message.method !== 'initialize') return body;
    assert.equal(message.params.protocolVersion, NEWEST);
    message.params.protocolVersion = revision;
    return JSON.stringify(message);
  };
}

async function connect(url, label, revision = NEWEST, capabilities = EVERYTHING) {
  const wire = recorder(offering(revision));
  const transport = new StreamableHTTPClientTransport(url, { fetch: wire.fetch });
  const client = new Client({ name: 'twolane-legacy-test', version: '1.0.0' }, { capabilities });
  const peer = {
    label,
    era: 'legacy',
    revision,
    client,
    transport,
    exchanges: wire.exchanges,
    errors: [],
    heard: [],
    asked: [],
    answers: {},
    anyResult: ResultSchema,
    call: (name, args, { meta, ...options } = {}) =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, undefined, options),
    code: (error) => error.code,
    resourceNotFound: -32002,
  };
  client.onerror = (error) => peer.errors.push(error);
  client.fallbackNotificationHandler = async (notification) => void peer.heard.push(notification);
  const answer = async (request) => {
    peer.asked.push(request);
    return await peer.answers[request.method](request.params);
  };
  if (capabilities.sampling) client.setRequestHandler(CreateMessageRequestSchema, answer);
  if (capabilities.elicitation) client.setRequestHandler(ElicitRequestSchema, answer);
  if (capabilities.roots) client.setRequestHandler(ListRootsRequestSchema, answer);
  await client.connect(transport);
  assert.equal(transport.protocolVersion, revision);
  return peer;
}

await main('sdk 1.x', async (url, step) => {
  for (const revision of REVISIONS) {
    const peer = await step(`${revision}: connects and gets a session`, async () => {
      const connected = await connect(url, revision, revision);
      assert.match(connected.transport.sessionId ?? '', /^[\x21-\x7e]+$/);
      assert.ok(connected.client.getServerVersion()?.name);
      const offered = connected.client.getServerCapabilities();
      for (const capability of ['tools', 'resources', 'prompts', 'logging'])
        assert.ok(offered?.[capability], capability);
      assert.ok(offered.completions);
      assert.deepEqual(
        [offered.resources.subscribe, offered.tools.listChanged, offered.prompts.listChanged],
        [true, true, true],
      );
      return connected;
    });
    await step(`${revision}: has its initialized notification accepted with 202`, async () => {
      const initialized = peer.exchanges.find((e) => String(e.body).includes('notifications/initialized'));
      assert.equal(initialized?.status, 202);
      assert.equal(initialized.got.get('content-length'), '0');
    });
    await step(`${revision}: pings`, async () => {
      assert.deepEqual(await peer.client.ping(), {});
    });
    await step(`${revision}: calls an unknown method: -32601`, async () => {
      for (const method of ['no/such-method', 'server/discover', 'subscriptions/listen']) {
        const error = await rejection(peer.client.request({ method }, EmptyResultSchema));
        assert.equal(error.code, ErrorCode.MethodNotFound, method);
      }
    });
    await primitives.tools(step, peer);
    await primitives.resources(step, peer);
    await primitives.prompts(step, peer);
    await calls.progress(step, peer);
    await calls.logging(step, peer);
    await calls.cancellation(step, peer);
    await changes.sessions(step, peer);
    await (revision === '2025-03-26' ? asking.noElicitation : asking.elicitation)(step, peer);
    await asking.sampling(step, peer);
    await asking.roots(step, peer);
    await resumption(step, peer);
    const ended = await endOfSession(step, peer, url, revision);
    await step(`${revision}: reconnects with a fresh session`, async () => {
      const again = await connect(url, revision, revision, {});
      assert.ok(again.transport.sessionId);
      assert.notEqual(again.transport.sessionId, ended);
      assert.equal(text(await again.call('greet', { name: 'again' })), 'Hello, again!');
      await asking.nothingDeclared((_, run) => run(), again);
      await again.transport.terminateSession();
      await again.client.close();
    });
  }
});
