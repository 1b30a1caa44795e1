// Both TypeScript clients against the binary with its demo tools: that what is shipped serves what the library serves.
import { strict as assert } from 'node:assert';
import * as modern from '@modelcontextprotocol/client';
import * as legacy from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { assertNamed, assertNoCrossedAnswers, assertStreamed, everyPage, main, rejection, text } from './steps.mjs';

const INFO = { name: 'twolane-demo-test', version: '1.0.0' };
const SLEEP_MS = 600;

/** `call(name, args, options)` whatever the client's own order of parameters. */
async function demo(step, label, client, call) {
  await step(`${label}: lists the tools`, async () => {
    const tools = await everyPage('tools', (cursor) => client.listTools(cursor === undefined ? {} : { cursor }));
    assertNamed(tools, ['echo', 'add', 'sleep', 'fail']);
  });
  await step(`${label}: calls them: text, numbers, failures`, async () => {
    const message = 'hällo, "wörld"\n\u2028 \u{1F980}';
    assert.equal(text(await call('echo', { message })), message);
    assert.equal(Number(text(await call('add', { a: 40, b: 2 }))), 42);
    assert.equal((await call('fail', {})).isError, true);
    assert.equal((await call('add', { a: 'forty', b: 2 })).isError, true);
    assert.equal((await rejection(call('no-such-tool', {}))).code, -32602);
  });
  await step(`${label}: receives progress while one sleeps`, async () => {
    const reports = [];
    const onprogress = (report) => reports.push({ ...report, at: performance.now() });
    const started = performance.now();
    await call('sleep', { ms: SLEEP_MS, steps: 4 }, { onprogress });
    const ended = performance.now();
    assert.ok(ended - started >= SLEEP_MS - 50, `slept only ${Math.round(ended - started)} ms`);
    assertStreamed(reports, 4, ended, SLEEP_MS / 3);
  });
  await step(`${label}: gets its own answer among many calls`, () =>
    assertNoCrossedAnswers(
      (message) => call('echo', { message }),
      (message) => message,
    ),
  );
}

await main('demo', async (url, step) => {
  {
    const client = new legacy.Client(INFO);
    const transport = new StreamableHTTPClientTransport(url);
    await client.connect(transport);
    await demo(step, 'sdk 1.x', client, (name, args, options) =>
      client.callTool({ name, arguments: args }, undefined, options),
    );
    await transport.terminateSession();
    await client.close();
  }
  for (const [mode, era] of [
    ['auto', 'modern'],
    ['legacy', 'legacy'],
  ]) {
    const client = new modern.Client(INFO, { versionNegotiation: { mode } });
    const transport = new modern.StreamableHTTPClientTransport(url);
    await client.connect(transport);
    assert.equal(client.getProtocolEra(), era);
    await demo(step, `client 2.x, ${mode}`, client, (name, args, options) =>
      client.callTool({ name, arguments: args }, options),
    );
    if (era === 'legacy') await transport.terminateSession();
    await client.close();
  }
});
