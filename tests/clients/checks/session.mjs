// What only a session has: an end.
import { strict as assert } from 'node:assert';
import { sent, sleep } from '../steps.mjs';

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
  await step(`${peer.label}: was refused nothing, and saw no transport error`, async () => {
    assert.ok(peer.exchanges.length > 80, String(peer.exchanges.length));
    const refused = peer.exchanges.filter((e) => e.status !== undefined && e.status >= 400);
    assert.deepEqual(
      refused.map((e) => [e.verb, e.status, sent(e)?.method]),
      [],
    );
    assert.deepEqual(peer.errors.map(String), []);
    await peer.client.close();
  });
  return ended;
}
