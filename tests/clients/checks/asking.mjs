// The server asks the client: elicitation, sampling, roots, on a stream of the call or by `input_required`. The tools
// of the server and the handlers of the client are the same for both.
import { strict as assert } from 'node:assert';
import { rejection, show, sleep, text } from '../steps.mjs';

const ELICIT = 'elicitation/create';
const SAMPLE = 'sampling/createMessage';
const ROOTS = 'roots/list';
const USER = { username: 'testuser', email: 'test@example.com' };

/** Runs `body` while the client answers `answers`; gives what it was asked meanwhile. */
async function asked(peer, answers, body) {
  const from = peer.asked.length;
  peer.answers = answers;
  try {
    await body();
  } finally {
    peer.answers = {};
  }
  return peer.asked.slice(from);
}

const one = (questions, method) => {
  assert.deepEqual(
    questions.map((question) => question.method),
    [method],
    show(questions),
  );
  return questions[0].params;
};

const accept = (content) => () => ({ action: 'accept', content });
const says = (words) => () => ({ role: 'assistant', model: 'test-model', content: { type: 'text', text: words } });

export async function elicitation(step, peer) {
  await step(`${peer.label}: is asked for input and gives it`, async () => {
    let result;
    const questions = await asked(peer, { [ELICIT]: accept(USER) }, async () => {
      result = await peer.call('test_elicitation', { message: 'Who are you?' });
    });
    const { message, requestedSchema } = one(questions, ELICIT);
    assert.equal(message, 'Who are you?');
    assert.equal(requestedSchema.properties.username.type, 'string');
    assert.deepEqual([...requestedSchema.required].sort(), ['email', 'username']);
    assert.ok(!result.isError, show(result));
    const words = text(result);
    assert.match(words, /action=accept/);
    for (const value of Object.values(USER)) assert.ok(words.includes(value), words);
  });
  await step(`${peer.label}: declines, and dismisses`, async () => {
    for (const action of ['decline', 'cancel']) {
      await asked(peer, { [ELICIT]: () => ({ action }) }, async () => {
        const result = await peer.call('test_elicitation', { message: 'Well?' });
        assert.ok(!result.isError, show(result));
        assert.match(text(result), new RegExp(`action=${action}`));
      });
    }
  });
  await step(`${peer.label}: is offered defaults and choices as its revision knows them`, async () => {
    const newer = peer.revision >= '2025-11-25';
    const filled = { name: 'John Doe', age: 30, score: 88, status: 'active', verified: true };
    const offered = await asked(peer, { [ELICIT]: accept(filled) }, async () => {
      const result = await peer.call('test_elicitation_sep1034_defaults');
      assert.ok(!result.isError && text(result).includes('88'), show(result));
    });
    const properties = Object.entries(one(offered, ELICIT).requestedSchema.properties);
    const defaults = properties
      .filter(([, schema]) => 'default' in schema)
      .map(([name, schema]) => [name, schema.default]);
    const all = { name: 'John Doe', age: 30, score: 95.5, status: 'active', verified: true };
    assert.deepEqual(Object.fromEntries(defaults), newer ? all : { verified: true });
    await choices(peer, newer);
  });
  await step(`${peer.label}: gives an answer of the wrong shape: the call fails, and the next one works`, async () => {
    await asked(peer, { [ELICIT]: accept({ username: true }) }, async () => {
      const call = peer.call('test_elicitation', { message: 'Well?' });
      // Where the client comes back with its answers it is asked again, until it gives up.
      if (peer.era === 'legacy') assert.equal((await call).isError, true);
      else assert.match(String(await rejection(call)), /round/i);
    });
    assert.equal(text(await peer.call('greet', { name: 'you' })), 'Hello, you!');
  });
  await step(`${peer.label}: answers many questions at once, the last first: each call gets its own`, async () => {
    const count = 12;
    const answer = async ({ message }) => {
      await sleep(20 * (count - Number(message)));
      return { action: 'accept', content: { ...USER, username: `user ${message}` } };
    };
    const questions = await asked(peer, { [ELICIT]: answer }, async () => {
      const calls = Array.from({ length: count }, (_, i) => peer.call('test_elicitation', { message: String(i) }));
      const results = await Promise.all(calls);
      results.forEach((result, i) => assert.match(text(result), new RegExp(`user ${i}"`)));
    });
    assert.equal(questions.length, count);
  });
}

/** Choosing several came with 2025-11-25: where it cannot be asked, the tool fails and nothing is asked. */
async function choices(peer, known) {
  let chosen;
  const choose = ({ requestedSchema: { properties } }) => {
    chosen = {
      untitledSingle: properties.untitledSingle.enum[0],
      titledSingle: properties.titledSingle.oneOf[0].const,
      legacyEnum: properties.legacyEnum.enum[0],
      untitledMulti: [properties.untitledMulti.items.enum[0]],
      titledMulti: [properties.titledMulti.items.anyOf[0].const],
    };
    return { action: 'accept', content: chosen };
  };
  const questions = await asked(peer, { [ELICIT]: choose }, async () => {
    const result = await peer.call('test_elicitation_sep1330_enums');
    if (known) assert.ok(!result.isError && text(result).includes(chosen.titledSingle), show(result));
    else assert.equal(result.isError, true, show(result));
  });
  assert.equal(questions.length, known ? 1 : 0);
}

/** Elicitation came with 2025-06-18: before, the tool fails and nothing is asked, whatever the client declared. */
export async function noElicitation(step, peer) {
  await step(`${peer.label}: is not asked what its revision does not know`, async () => {
    const questions = await asked(peer, {}, async () => {
      const result = await peer.call('test_elicitation', { message: 'Well?' });
      assert.equal(result.isError, true, show(result));
    });
    assert.deepEqual(questions, []);
  });
}

export async function sampling(step, peer) {
  await step(`${peer.label}: is asked for a completion and gives it`, async () => {
    const words = 'It is 42.\u2028"Really."';
    const questions = await asked(peer, { [SAMPLE]: says(words) }, async () => {
      const result = await peer.call('test_sampling', { prompt: 'What is it?' });
      assert.ok(!result.isError, show(result));
      assert.equal(text(result), `LLM response: ${words}`);
    });
    const { messages, maxTokens } = one(questions, SAMPLE);
    assert.equal(maxTokens, 100);
    assert.deepEqual(
      messages.map(({ role, content }) => [role, [content].flat()[0].text]),
      [['user', 'What is it?']],
    );
  });
  await step(`${peer.label}: refuses: the call fails, and the next one works`, async () => {
    const refuse = () => {
      throw Object.assign(new Error('The user said no.'), { code: -1 });
    };
    await asked(peer, { [SAMPLE]: refuse }, async () => {
      const call = peer.call('test_sampling', { prompt: 'Please?' });
      // On the legacy lane the server learns of it; on the modern one the client never comes back.
      if (peer.era === 'legacy') assert.equal((await call).isError, true);
      else assert.match((await rejection(call)).message, /said no/);
    });
    assert.equal(text(await peer.call('greet', { name: 'you' })), 'Hello, you!');
  });
}

export async function roots(step, peer) {
  await step(`${peer.label}: is asked for its roots and gives them`, async () => {
    const listed = () => ({ roots: [{ uri: 'file:///home/you/project', name: 'project' }] });
    const questions = await asked(peer, { [ROOTS]: listed }, async () => {
      const result = await peer.call('test_input_required_result_list_roots');
      assert.ok(!result.isError && text(result).includes('file:///home/you/project'), show(result));
    });
    one(questions, ROOTS);
  });
  if (peer.era === 'modern') return;
  await step(`${peer.label}: tells that its roots have changed: accepted with 202`, async () => {
    const from = peer.exchanges.length;
    await peer.client.sendRootsListChanged();
    assert.equal(peer.exchanges[from].status, 202);
  });
}

/** A client that declared nothing: a tool that must ask it fails, whatever the era, and it is asked nothing. */
export async function nothingDeclared(step, peer) {
  await step(`${peer.label}: declared nothing, is asked nothing`, async () => {
    for (const [name, args] of [
      ['test_sampling', { prompt: 'x' }],
      ['test_elicitation', { message: 'x' }],
    ]) {
      if (peer.era === 'legacy') {
        const result = await peer.call(name, args);
        assert.equal(result.isError, true, show(result));
      } else {
        const error = await rejection(peer.call(name, args));
        assert.equal(peer.code(error), -32021, String(error));
        assert.ok(error.data?.requiredCapabilities, show(error));
      }
    }
    if (peer.era === 'modern') {
      const error = await rejection(peer.call('test_missing_capability'));
      assert.deepEqual([peer.code(error), error.data?.requiredCapabilities], [-32021, { sampling: {} }]);
    }
    assert.deepEqual(peer.asked, []);
  });
}

/** What only the modern lane has: several rounds, several questions at once, a state that travels. */
export async function rounds(step, peer) {
  const everything = {
    [ELICIT]: ({ requestedSchema }) => filledIn(requestedSchema),
    [SAMPLE]: says('Sampled.'),
    [ROOTS]: () => ({ roots: [] }),
  };
  const complete = async (name, methods) => {
    const questions = await asked(peer, everything, async () => {
      const result = await peer.call(name);
      assert.ok(!result.isError && text(result), show(result));
    });
    assert.deepEqual(questions.map(({ method }) => method).sort(), methods, name);
  };
  await step(`${peer.label}: answers in one round, in two, and three questions at once`, async () => {
    await complete('test_input_required_result_elicitation', [ELICIT]);
    await complete('test_input_required_result_sampling', [SAMPLE]);
    await complete('test_input_required_result_request_state', [ELICIT]);
    await complete('test_input_required_result_multiple_inputs', [ELICIT, ROOTS, SAMPLE]);
    await complete('test_input_required_result_multi_round', [ELICIT, ELICIT]);
    await complete('test_input_required_result_tampered_state', [ELICIT]);
    await complete('test_input_required_result_capabilities', [ELICIT, ROOTS, SAMPLE]);
    await complete('test_streaming_elicitation', [ELICIT]);
  });
  await step(`${peer.label}: answers before it gets a prompt`, async () => {
    const questions = await asked(peer, everything, async () => {
      const { messages } = await peer.client.getPrompt({ name: 'test_input_required_result_prompt' });
      assert.ok(messages.length > 0);
    });
    one(questions, ELICIT);
  });
}

/** Something of the right type for every property. */
export function filledIn({ properties }) {
  const value = { string: 'Alice', boolean: true, integer: 1, number: 1 };
  const content = Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, value[type]]));
  return { action: 'accept', content };
}
