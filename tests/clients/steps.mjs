// What the client scripts share: numbered steps, one exchange log, one deadline.
import { strict as assert } from 'node:assert';
import { basename } from 'node:path';

const DEADLINE_MS = 120_000;

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

/** A `fetch` that keeps what went over the wire, for steps to assert. `rewrite` may change a body on its way out. */
export function recorder(rewrite = (body) => body) {
  const exchanges = [];
  const recordingFetch = async (target, init = {}) => {
    const body = typeof init.body === 'string' ? rewrite(init.body) : init.body;
    const exchange = { verb: init.method ?? 'GET', sent: new Headers(init.headers), body };
    exchanges.push(exchange);
    const answer = await fetch(target, { ...init, body });
    exchange.status = answer.status;
    exchange.got = answer.headers;
    if (exchange.verb === 'GET' && answer.ok) exchange.end = endOf(answer.clone());
    return answer;
  };
  return { exchanges, fetch: recordingFetch };
}

/** How a stream ends: by itself, or broken off. */
async function endOf({ body }) {
  try {
    for await (const _ of body);
    return 'ended';
  } catch {
    return 'broken off';
  }
}

/** The message that an exchange carried to the server. */
export const sent = (exchange) => (typeof exchange.body === 'string' ? JSON.parse(exchange.body) : undefined);

export const show = (value) => JSON.stringify(value);

/** The text of the first content block. */
export function text(result) {
  const block = result.content?.[0];
  assert.equal(block?.type, 'text', `expected a text block, got ${show(result)}`);
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
  assert.fail(`expected an error, got ${show(value)}`);
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until `condition` gives something, and returns that. It may be async. */
export async function until(what, condition, ms = 3000) {
  const deadline = performance.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    assert.ok(performance.now() < deadline, `${what}: not within ${ms} ms`);
    await sleep(10);
  }
}

/** Every entry of a list, page by page; `page(cursor)` fetches one page, whose entries are its member `kind`. */
export async function everyPage(kind, page) {
  const entries = [];
  const seen = new Set();
  let cursor;
  do {
    const result = await page(cursor);
    entries.push(...result[kind]);
    cursor = result.nextCursor;
    assert.ok(!seen.has(cursor), `cursor ${cursor} came twice`);
    seen.add(cursor);
  } while (cursor !== undefined);
  return entries;
}

/** The entries named are there, once each, and every entry is described. */
export function assertNamed(entries, names, key = 'name') {
  const found = entries.map((entry) => entry[key]);
  for (const name of names) {
    assert.equal(found.filter((n) => n === name).length, 1, `${name} in ${found}`);
  }
  for (const entry of entries) {
    assert.ok(entry.description, `${entry[key]} has no description`);
  }
}

/** Many calls in flight at once: each answer must reach its own caller. `call(word)` answers with `expected(word)`. */
export async function assertNoCrossedAnswers(call, expected) {
  const count = 64;
  const words = Array.from({ length: count }, (_, i) => `${i} ${'·'.repeat(i)}`);
  const results = await Promise.all(words.map((word) => call(word)));
  assert.deepEqual(results.map(text), words.map(expected));
}

/** What came of each report: at least `count`, each greater than the one before, the first well before the result. */
export function assertStreamed(reports, count, ended, leadMs) {
  assert.ok(reports.length >= count, `expected ${count} progress reports, got ${show(reports)}`);
  for (let i = 1; i < reports.length; i += 1) {
    assert.ok(reports[i].progress > reports[i - 1].progress, `progress must rise: ${show(reports)}`);
  }
  const lead = ended - reports[0].at;
  assert.ok(lead >= leadMs, `the first report came ${Math.round(lead)} ms before the result: buffered, not streamed`);
}
