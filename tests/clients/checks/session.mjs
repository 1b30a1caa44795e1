// What only a session has: streams that are taken up again, and an end.
import { strict as assert } from 'node:assert';
import { sent, show, sleep, text } from '../steps.mjs';

/** A tool that lets go of its own stream before it is done: the client comes back for the result by `Last-Event-ID`. */
export async function resumption(step, peer) {
  await step(`${peer.label}: comes back for the result of a stream that was let go of`, async () => {
    const from = peer.exchanges.length;
    const result = await peer.call('test_reconnection');
    assert.ok(!result.isError && text(result), show(result));
    const since = peer.exchanges.slice(from);
    const resumed = since.some((e) => e.verb === 'GET' && e.sent.has('last-event-id') && e.status === 200);
    // Older revisions have no streams that a server may let go of: the tool just answers.
    const lets = peer.revision === '2025-11-25';
    assert.equal(resumed, lets, show(since.map((e) => [e.verb, e.status])));
  });
}

/** Ends the session, asserts that it is gone, and gives its id. */
export async function endOfSession(step, peer, url, revision) {
  const { transport } = peer;
  const ended = await step(`${peer.label}: terminates the session`, async () => {
    const id = transport.sessionId;
    await transport.terminateSession();
    assert.equal(peer.exchanges.find((e) => e.verb === 'DELETE')?.status, 200);
    assert.equal(transport.sessionId, undefined);
    const streams = peer.exchanges.filter((e) => e.end);
    assert.ok(streams.length > 0);
    for (const { end } of streams) assert.equal(await Promise.race([end, sleep(2000)]), 'ended');
    return id;
  });
  await step(`${peer.label}: finds the terminated session gone: 404 on POST, GET and DELETE`, async () => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
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
  await step(`${peer.label}: was refused only what it provoked, and saw no transport error`, async () => {
    assert.ok(peer.exchanges.length > 80, String(peer.exchanges.length));
    const refused = peer.exchanges.filter((e) => e.status !== undefined && e.status >= 400);
    // A client comes back to the stream of a call that it has cancelled, and is told once that there is nothing more.
    const over = refused.filter((e) => e.status === 405 && e.sent.has('last-event-id'));
    const streams = over.map((e) => e.sent.get('last-event-id'));
    assert.equal(new Set(streams).size, streams.length, `came back again and again: ${streams}`);
    assert.deepEqual(
      refused.filter((e) => !over.includes(e)).map((e) => [e.verb, e.status, sent(e)?.method]),
      [],
    );
    assert.deepEqual(peer.errors.map(String), []);
    await peer.client.close();
  });
  return ended;
}
