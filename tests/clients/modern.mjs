// The TypeScript client 2.x: pinned to 2026-07-28, negotiating by itself, and in its legacy mode on each revision that
// has a handshake.
import { strict as assert } from 'node:assert';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as asking from './checks/asking.mjs';
import * as calls from './checks/calls.mjs';
import * as changes from './checks/changes.mjs';
import * as primitives from './checks/primitives.mjs';
import { endOfSession, resumption } from './checks/session.mjs';
import { main, recorder, rejection, sent, show, text } from './steps.mjs';

const MODERN = '2026-07-28';
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'];
const EVERYTHING = { sampling: {}, elicitation: {}, roots: { listChanged: true } };

async function connect(url, label, { mode, era, revision, capabilities = EVERYTHING }) {
  const wire = recorder();
  const transport = new StreamableHTTPClientTransport(url, { fetch: wire.fetch });
  const options = { versionNegotiation: { mode }, capabilities };
  if (era === 'legacy') options.supportedProtocolVersions = [revision];
  const client = new Client({ name: 'twolane-modern-test', version: '1.0.0' }, options);
  const peer = {
    label,
    era,
    revision,
    client,
    transport,
    exchanges: wire.exchanges,
    errors: [],
    heard: [],
    asked: [],
    answers: {},
    call: (name, args, { meta, ...given } = {}) =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, given),
    code: (error) => error.code,
    // The code of this client's own error, whichever of the two the server sent.
    resourceNotFound: -32602,
  };
  client.onerror = (error) => peer.errors.push(error);
  client.fallbackNotificationHandler = async (notification) => void peer.heard.push(notification);
  const answer = async (request) => {
    peer.asked.push(request);
    return await peer.answers[request.method](request.params);
  };
  if (capabilities.sampling) client.setRequestHandler('sampling/createMessage', answer);
  if (capabilities.elicitation) client.setRequestHandler('elicitation/create', answer);
  if (capabilities.roots) client.setRequestHandler('roots/list', answer);
  await client.connect(transport);
  assert.equal(client.getProtocolEra(), era);
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
  return peer;
}

/** What every client must get, whatever its era. */
async function usual(step, peer) {
  await primitives.tools(step, peer);
  await primitives.resources(step, peer);
  await primitives.prompts(step, peer);
  await calls.progress(step, peer);
  await calls.logging(step, peer);
  await calls.cancellation(step, peer);
  await (peer.revision === '2025-03-26' ? asking.noElicitation : asking.elicitation)(step, peer);
  await asking.sampling(step, peer);
  await asking.roots(step, peer);
}

/** A request as this client writes it, sent by hand: what the client itself would not send. */
async function byHand(url, method, params = {}, headers = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': EVERYTHING,
  };
  return await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'by-hand', method, params: { ...params, _meta: meta } }),
  });
}

async function modern(url, step) {
  const peer = await step(`${MODERN}: connects, pinned`, () =>
    connect(url, MODERN, { mode: { pin: MODERN }, era: 'modern', revision: MODERN }),
  );
  await step(`${MODERN}: discovers versions, capabilities and the name of the server`, async () => {
    const found = await peer.client.discover();
    assert.deepEqual(found.supportedVersions, [MODERN, ...LEGACY]);
    const { tools, prompts, resources, completions, logging } = found.capabilities;
    assert.ok(completions && logging, show(found));
    assert.deepEqual([tools.listChanged, prompts.listChanged, resources.subscribe], [true, true, true]);
    assert.ok(peer.client.getServerVersion()?.name);
  });
  await usual(step, peer);
  await asking.rounds(step, peer);
  await changes.listeners(step, peer);
  await byTheState(step, peer);
  await step(`${MODERN}: calls methods of the other era: 404 with -32601`, async () => {
    for (const method of ['ping', 'initialize', 'logging/setLevel', 'resources/subscribe', 'no/such-method']) {
      const answer = await byHand(url, method);
      const { id, error } = await answer.json();
      assert.deepEqual([answer.status, id, error.code], [404, 'by-hand', -32601], method);
    }
  });
  await step(`${MODERN}: was never given a session, and was refused only what it provoked`, async () => {
    assert.ok(peer.exchanges.length > 80, String(peer.exchanges.length));
    for (const exchange of peer.exchanges) {
      assert.equal(exchange.verb, 'POST');
      assert.ok(!exchange.sent.has('mcp-session-id') && !exchange.got?.has('mcp-session-id'));
      const provoked = exchange.status === 400 && String(exchange.body).includes('"loud"');
      assert.ok(
        exchange.status === undefined || exchange.status < 400 || provoked,
        `${exchange.status} to ${show(sent(exchange))}`,
      );
    }
    assert.deepEqual(peer.errors.map(String), []);
    await peer.client.close();
  });
  const silent = await step(`${MODERN}: connects with no capabilities`, () =>
    connect(url, MODERN, { mode: { pin: MODERN }, era: 'modern', revision: MODERN, capabilities: {} }),
  );
  await asking.nothingDeclared(step, silent);
  await silent.client.close();
}

/** The rounds by hand: what a client may do with the state that it carries, and what not. */
async function byTheState(step, peer) {
  const name = 'test_input_required_result_tampered_state';
  const call = (more) => peer.client.callTool({ name, arguments: {}, ...more }, { allowInputRequired: true });
  const first = await step(`${peer.label}: is handed the questions and a state that says nothing`, async () => {
    const handed = await call({});
    assert.equal(handed.resultType, 'input_required', show(handed));
    assert.ok(handed.requestState, show(handed));
    return handed;
  });
  const { requestState } = first;
  const inputResponses = Object.fromEntries(
    Object.entries(first.inputRequests).map(([key, { params }]) => [key, asking.filledIn(params.requestedSchema)]),
  );
  await step(`${peer.label}: brings no answer, a stray one, or the right one among others`, async () => {
    for (const responses of [undefined, {}, { stray: { action: 'cancel' } }]) {
      const again = await call({ requestState, ...(responses && { inputResponses: responses }) });
      assert.equal(again.resultType, 'input_required', show(again));
    }
    const done = await call({ requestState, inputResponses: { ...inputResponses, stray: { action: 'cancel' } } });
    assert.ok(!done.isError && text(done), show(done));
  });
  await step(`${peer.label}: brings a state that was tampered with, or another call's: -32602`, async () => {
    const flipped = requestState.slice(0, -8) + (requestState.at(-8) === 'A' ? 'B' : 'A') + requestState.slice(-7);
    for (const state of [flipped, requestState.slice(0, -4), 'no state at all', `${requestState}AAAA`]) {
      assert.equal(peer.code(await rejection(call({ requestState: state, inputResponses }))), -32602, state);
    }
    const elsewhere = { name: 'test_input_required_result_request_state', arguments: {}, requestState, inputResponses };
    assert.equal(peer.code(await rejection(peer.client.callTool(elsewhere, { allowInputRequired: true }))), -32602);
  });
}

async function legacy(url, step, revision) {
  const peer = await step(`${revision}: connects in legacy mode`, async () => {
    const connected = await connect(url, revision, { mode: 'legacy', era: 'legacy', revision });
    assert.ok(connected.transport.sessionId);
    return connected;
  });
  await step(`${revision}: pings`, async () => {
    assert.deepEqual(await peer.client.ping(), {});
  });
  await usual(step, peer);
  await changes.sessions(step, peer);
  await resumption(step, peer);
  await endOfSession(step, peer, url, revision);
  const silent = await step(`${revision}: connects with no capabilities`, () =>
    connect(url, revision, { mode: 'legacy', era: 'legacy', revision, capabilities: {} }),
  );
  await asking.nothingDeclared(step, silent);
  await silent.transport.terminateSession();
  await silent.client.close();
}

await main('client 2.x', async (url, step) => {
  await modern(url, step);
  await step('negotiating by itself: chooses the modern era without a handshake', async () => {
    const peer = await connect(url, 'auto', { mode: 'auto', era: 'modern', revision: MODERN });
    assert.equal(text(await peer.call('greet', { name: 'auto' })), 'Hello, auto!');
    assert.ok(!peer.exchanges.some((e) => String(e.body).includes('"initialize"')));
    assert.deepEqual(peer.errors, []);
    await peer.client.close();
  });
  await step('negotiating by itself, with a version that nobody serves: told which there are', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2099-01-01',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'mcp-protocol-version': '2099-01-01',
        'mcp-method': 'server/discover',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } }),
    });
    const { error } = await answer.json();
    assert.deepEqual([answer.status, error.code, error.data.requested], [400, -32022, '2099-01-01']);
    assert.deepEqual(error.data.supported, [MODERN, ...LEGACY]);
  });
  for (const revision of LEGACY) await legacy(url, step, revision);
});
