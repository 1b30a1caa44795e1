// Calls that last: progress and log messages while they run, and what becomes of one that nobody waits for any more.
import { strict as assert } from 'node:assert';
import { assertStreamed, rejection, show, sleep, text, until } from '../steps.mjs';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const SPOKEN = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];
/** A call this long has to be ended by somebody. */
const ENDLESS_MS = 60_000;
/** Long enough for a call to be seen running, on a machine that is busy. */
const PATIENCE_MS = 800;

export async function progress(step, peer) {
  await step(`${peer.label}: receives progress while a tool runs`, async () => {
    const reports = [];
    const onprogress = (report) => reports.push({ ...report, at: performance.now() });
    const result = await peer.call('test_tool_with_progress', {}, { onprogress });
    const ended = performance.now();
    assert.ok(!result.isError && text(result), show(result));
    assert.deepEqual(
      reports.map((report) => [report.progress, report.total]),
      [
        [0, 100],
        [50, 100],
        [100, 100],
      ],
    );
    assertStreamed(reports, 3, ended, 80);
  });
  await step(`${peer.label}: receives each call's own progress among many`, async () => {
    const calls = Array.from({ length: 16 }, async () => {
      const reports = [];
      await peer.call('test_tool_with_progress', {}, { onprogress: ({ progress: done }) => reports.push(done) });
      return reports;
    });
    for (const reports of await Promise.all(calls)) assert.deepEqual(reports, [0, 50, 100]);
  });
}

/** Calls the tool that logs, wanting messages from `level` on, and gives what was heard. */
async function logged(peer, level) {
  let options = {};
  if (peer.era === 'legacy') {
    if (level) assert.deepEqual(await peer.client.setLoggingLevel(level), {});
  } else if (level) {
    options = { meta: { [LOG_LEVEL]: level } };
  }
  const before = peer.heard.length;
  const result = await peer.call('test_tool_with_logging', {}, options);
  assert.ok(!result.isError && text(result), show(result));
  // Whatever comes of a call comes before its result: nothing to wait for.
  const messages = peer.heard.slice(before).filter(({ method }) => method === 'notifications/message');
  return messages.map(({ params }) => [params.level, params.data]);
}

export async function logging(step, peer) {
  const all = SPOKEN.map((message) => ['info', message]);
  await step(`${peer.label}: receives the log messages that it asked for`, async () => {
    assert.deepEqual(await logged(peer, 'info'), all);
    assert.deepEqual(await logged(peer, 'debug'), all);
  });
  await step(`${peer.label}: is spared the log messages that it did not ask for`, async () => {
    assert.deepEqual(await logged(peer, 'warning'), []);
    if (peer.era === 'modern') assert.deepEqual(await logged(peer, undefined), []);
    if (peer.era === 'legacy') assert.deepEqual(await logged(peer, 'info'), all);
  });
  await step(`${peer.label}: names a log level that there is not: -32602`, async () => {
    const asked =
      peer.era === 'legacy'
        ? peer.client.request({ method: 'logging/setLevel', params: { level: 'loud' } }, peer.anyResult)
        : peer.call('test_tool_with_logging', {}, { meta: { [LOG_LEVEL]: 'loud' } });
    const error = await rejection(asked);
    // The modern lane refuses the request by status, and clients differ in what they make of that.
    if (peer.era === 'legacy') assert.equal(peer.code(error), -32602, String(error));
    else assert.ok(String(error.message).includes('logLevel') || peer.code(error) === -32602, String(error));
  });
}

const waiting = async (peer, label) => Number(text(await peer.call('test_waiting', { label })));

/** Starts a call that lasts, gives up on it by `giveUp`, and asserts that it ends at once here and soon there. */
async function abandoned(peer, label, giveUp, options = {}) {
  const outcome = rejection(peer.call('test_wait', { label, ms: ENDLESS_MS }, options));
  const running = until('the start of the call', async () => (await waiting(peer, label)) === 1);
  await Promise.race([running, outcome.then((error) => assert.fail(`ended before it began: ${error}`))]);
  giveUp();
  const since = performance.now();
  const error = await outcome;
  assert.ok(performance.now() - since < 2 * PATIENCE_MS, 'the client waited for an answer');
  await until(`the end of ${label} on the server`, async () => (await waiting(peer, label)) === 0);
  return error;
}

export async function cancellation(step, peer) {
  // A call that wants progress is answered with a stream, which may end without an answer.
  const onprogress = () => {};
  await step(`${peer.label}: cancels a running call, which stops on the server`, async () => {
    const abort = new AbortController();
    const options = { signal: abort.signal, onprogress };
    await abandoned(peer, `${peer.label} cancelled`, () => abort.abort('changed my mind'), options);
  });
  await step(`${peer.label}: cancels a call that has sent nothing yet, which stops on the server`, async () => {
    const abort = new AbortController();
    const before = peer.errors.length;
    await abandoned(peer, `${peer.label} silent`, () => abort.abort(), { signal: abort.signal });
    if (peer.era === 'modern') return;
    // A request that no stream was opened for has to be answered: the client says that it did not expect to be.
    await until('the answer', () => peer.errors.length > before);
    assert.match(
      peer.errors.splice(before).map(String).join(),
      /^Error: Received a response for an unknown message ID/,
    );
  });
  await step(`${peer.label}: runs out of patience with a call, which stops on the server`, async () => {
    const error = await abandoned(peer, `${peer.label} timed out`, () => {}, { timeout: PATIENCE_MS, onprogress });
    assert.match(error.message, /timed out/i);
  });
  await step(`${peer.label}: cancels one of two calls, and the other is answered`, async () => {
    const label = `${peer.label} spared`;
    const spared = peer.call('test_wait', { label, ms: 700 });
    await until('the spared call', async () => (await waiting(peer, label)) === 1);
    const abort = new AbortController();
    await abandoned(peer, `${peer.label} ended`, () => abort.abort(), { signal: abort.signal, onprogress });
    assert.equal(text(await spared), 'waited');
  });
  await step(`${peer.label}: cancels a call that has been answered: nothing comes of it`, async () => {
    const abort = new AbortController();
    assert.equal(text(await peer.call('greet', { name: 'you' }, { signal: abort.signal })), 'Hello, you!');
    abort.abort();
    await sleep(50);
    assert.equal(text(await peer.call('greet', { name: 'again' })), 'Hello, again!');
  });
}
