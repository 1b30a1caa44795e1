// News from the server: resources that were updated, lists that changed. Sessions subscribe; the modern lane listens.
import { strict as assert } from 'node:assert';
import { rejection, show, sleep, text, until } from '../steps.mjs';

const WATCHED = 'test://watched-resource';
const UPDATED = 'notifications/resources/updated';
const TOOLS = 'notifications/tools/list_changed';
const PROMPTS = 'notifications/prompts/list_changed';
/** Longer than the server collects changes before it tells of them. */
const NOTHING_COMES_MS = 250;

/** What a peer hears from here on. */
function ear(peer) {
  const from = peer.heard.length;
  const since = (method) => peer.heard.slice(from).filter((message) => message.method === method);
  return { since, first: (method) => until(method, () => since(method)[0]) };
}

async function works(peer, tool) {
  const result = await peer.call(tool);
  assert.ok(!result.isError && text(result), show(result));
}

async function listsDiffer(peer, tool, method, list) {
  // What the client has kept from before may be older than the last change that it did not hear of.
  const before = show(await list({ cacheMode: 'refresh' }));
  const heard = ear(peer);
  await works(peer, tool);
  await heard.first(method);
  assert.notEqual(show(await list()), before, `${method}, but the list is the same`);
  await sleep(NOTHING_COMES_MS);
  assert.equal(heard.since(method).length, 1, 'one change is told of once');
}

const tools = (peer) => async (how) => (await peer.client.listTools({}, how)).tools.map(({ name }) => name);
const prompts = (peer) => async (how) => (await peer.client.listPrompts({}, how)).prompts.map(({ name }) => name);

export async function sessions(step, peer) {
  const { client } = peer;
  await step(`${peer.label}: has an event stream of its own`, async () => {
    const asked = await until('GET', () => peer.exchanges.find((e) => e.verb === 'GET' && e.status !== undefined));
    assert.equal(asked.status, 200);
    assert.equal(asked.got.get('content-type'), 'text/event-stream');
  });
  await step(`${peer.label}: is told of updates to what it subscribed to, until it unsubscribes`, async () => {
    const unasked = ear(peer);
    await works(peer, 'test_touch_watched_resource');
    await sleep(NOTHING_COMES_MS);
    assert.deepEqual(unasked.since(UPDATED), []);

    assert.deepEqual(await client.subscribeResource({ uri: WATCHED }), {});
    for (let round = 0; round < 2; round += 1) {
      const heard = ear(peer);
      await works(peer, 'test_touch_watched_resource');
      assert.equal((await heard.first(UPDATED)).params.uri, WATCHED);
    }
    assert.deepEqual(await client.unsubscribeResource({ uri: WATCHED }), {});
    const after = ear(peer);
    await works(peer, 'test_touch_watched_resource');
    await sleep(NOTHING_COMES_MS);
    assert.deepEqual(after.since(UPDATED), []);
  });
  await step(`${peer.label}: is told that the tools and the prompts have changed`, async () => {
    await listsDiffer(peer, 'test_trigger_tool_change', TOOLS, tools(peer));
    await listsDiffer(peer, 'test_trigger_prompt_change', PROMPTS, prompts(peer));
  });
}

export async function listeners(step, peer) {
  const { client } = peer;
  await step(`${peer.label}: listens for updates of a resource, until it closes`, async () => {
    const subscription = await client.listen({ resourceSubscriptions: [WATCHED] });
    assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: [WATCHED] });
    for (let round = 0; round < 2; round += 1) {
      const heard = ear(peer);
      await works(peer, 'test_touch_watched_resource');
      assert.equal((await heard.first(UPDATED)).params.uri, WATCHED);
    }
    await subscription.close();
    assert.equal(await subscription.closed, 'local');
    const after = ear(peer);
    await works(peer, 'test_touch_watched_resource');
    await sleep(NOTHING_COMES_MS);
    assert.deepEqual(after.since(UPDATED), []);
  });
  await step(`${peer.label}: listens for changed tools and prompts, each where it was asked for`, async () => {
    const heard = ear(peer);
    const onTools = await client.listen({ toolsListChanged: true });
    await works(peer, 'test_trigger_prompt_change');
    await sleep(NOTHING_COMES_MS);
    assert.deepEqual(heard.since(PROMPTS), []);
    await listsDiffer(peer, 'test_trigger_tool_change', TOOLS, tools(peer));
    const onPrompts = await client.listen({ promptsListChanged: true });
    await listsDiffer(peer, 'test_trigger_prompt_change', PROMPTS, prompts(peer));
    await onTools.close();
    await onPrompts.close();
  });
  await step(`${peer.label}: listens for nothing: ended at once, gracefully`, async () => {
    const subscription = await client.listen({});
    assert.equal(await Promise.race([subscription.closed, sleep(2000)]), 'graceful');
  });
  await step(`${peer.label}: finds no subscriptions of the older kind`, async () => {
    assert.ok(await rejection(client.subscribeResource({ uri: WATCHED })));
  });
}
