// What the client scripts share: numbered steps, one exchange log, one deadline.
import { strict as assert } from 'node:assert';
import { basename } from 'node:path';

const DEADLINE_MS = 60_000;
const ABANDONED_MS = 10_000;

/** Runs `body(url, step)`; `step(name, fn)` prints `ok …` or ends the process with 1. */
export async function main(name, body) {
  const url = process.argv[2];
  if (!url) {
    console.error(`usage: node ${basename(process.argv[1])} http://HOST:PORT/mcp`);
    process.exit(2);
  }
  let current = 'start';
  const fail = (why) => {
    console.log(`not ok ${name}: ${current}`);
    console.error(why instanceof Error ? why.stack : why);
    process.exit(1);
  };
  setTimeout(() => fail(`no answer after ${DEADLINE_MS} ms`), DEADLINE_MS).unref();
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  let passed = 0;
  const step = async (what, run) => {
    current = what;
    const value = await run();
    passed += 1;
    console.log(`ok ${name}: ${what}`);
    return value;
  };
  try {
    await body(new URL(url), step);
  } catch (error) {
    fail(error);
  }
  if (passed === 0) fail('no step ran');
  console.log(`${name}: ${passed} passed, 0 failed`);
  process.exit(0);
}

/** A `fetch` that keeps what went over the wire, so that a step can assert it. */
export function recorder() {
  const exchanges = [];
  const recordingFetch = async (target, init = {}) => {
    const exchange = { verb: init.method ?? 'GET', sent: new Headers(init.headers), body: init.body };
    exchanges.push(exchange);
    const answer = await fetch(target, init);
    exchange.status = answer.status;
    exchange.got = answer.headers;
    return answer;
  };
  return { exchanges, fetch: recordingFetch };
}

/** The text of the first content block. */
export function text(result) {
  const block = result.content?.[0];
  assert.equal(block?.type, 'text', `expected a text block, got ${JSON.stringify(result)}`);
  return block.text;
}

/** Awaits the rejection of `promise` and returns its error. */
export async function rejection(promise) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  assert.fail(`expected an error, got ${JSON.stringify(value)}`);
}

/** Every tool, page by page; `page(cursor)` fetches one page. */
export async function everyPage(page) {
  const tools = [];
  const seen = new Set();
  let cursor;
  do {
    const result = await page(cursor);
    tools.push(...result.tools);
    cursor = result.nextCursor;
    assert.ok(!seen.has(cursor), `cursor ${cursor} came twice`);
    seen.add(cursor);
  } while (cursor !== undefined);
  return tools;
}

/** The demo tools are there, once each, described. */
export function assertDemoTools(tools) {
  const names = tools.map((tool) => tool.name);
  for (const name of ['echo', 'add', 'sleep', 'fail']) {
    assert.equal(names.filter((n) => n === name).length, 1, `tool ${name} in ${names}`);
  }
  for (const tool of tools) {
    assert.ok(tool.description, `tool ${tool.name} has no description`);
    assert.equal(tool.inputSchema.type, 'object', `tool ${tool.name}`);
  }
}

/** Calls `sleep` with progress and asserts that the reports came while it slept, not with its result. */
export async function assertProgressStreams(call) {
  const steps = 4;
  const reports = [];
  const started = performance.now();
  const result = await call({ ms: 600, steps }, (progress) => reports.push({ ...progress, at: performance.now() }));
  const ended = performance.now();
  assert.ok(!result.isError, JSON.stringify(result));
  assert.ok(ended - started >= 550, `slept only ${Math.round(ended - started)} ms`);
  assert.ok(reports.length >= steps, `expected ${steps} progress reports, got ${reports.length}`);
  for (let i = 1; i < reports.length; i += 1) {
    assert.ok(reports[i].progress > reports[i - 1].progress, 'progress must rise');
  }
  const lead = ended - reports[0].at;
  assert.ok(lead >= 200, `the first report came ${Math.round(lead)} ms before the result: buffered, not streamed`);
}

/** Many calls in flight at once: each answer must reach its own caller. */
export async function assertNoCrossedAnswers(call) {
  const count = 64;
  const messages = Array.from({ length: count }, (_, i) => `message ${i} ${'·'.repeat(i)}`);
  const results = await Promise.all(messages.map((message) => call({ message })));
  assert.deepEqual(results.map(text), messages);
}

/** Starts a call that would take 10 s and abandons it: a client that lost its patience. */
export async function assertGivesUp(call, next) {
  const abort = new AbortController();
  const pending = call({ ms: ABANDONED_MS, steps: 1 }, abort.signal);
  setTimeout(() => abort.abort('changed my mind'), 100);
  const started = performance.now();
  await rejection(pending);
  await next();
  assert.ok(performance.now() - started < ABANDONED_MS / 2, 'the abandoned call held up the next one');
}

/** What a client complained about, less a late answer to the abandoned call: a server may send one on the legacy lane. */
export function complaints({ errors, exchanges }) {
  const abandoned = exchanges
    .filter((e) => String(e.body).includes(`"ms":${ABANDONED_MS}`))
    .map((e) => `"id":${JSON.stringify(JSON.parse(e.body).id)}`);
  return errors.filter(({ message }) => !(/unknown message ID/i.test(message) && abandoned.some((id) => message.includes(id))));
}
