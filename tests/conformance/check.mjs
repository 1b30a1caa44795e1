// The gate over the suite's results. The suite's own exit code passes a server that issues no sessions at all,
// so this reads checks.json instead.
//   node check.mjs DIR scenarios SCENARIOS.txt     every listed scenario, run one by one
//   node check.mjs DIR requirements REVISION=N...  whole requirement sets, at least N checks succeeding in each
// DIR/REVISION/server-SCENARIO-TIMESTAMP/checks.json are the results; for requirements DIR/REVISION.list is
// what `conformance list --requirements` printed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [dir, mode, ...rest] = process.argv.slice(2);
const faults = [];
const fault = (text) => faults.push(text);

const rows = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split(/\s+/));

const allowed = rows(new URL('./allowed.txt', import.meta.url)).map(([status, ...where]) => {
  if (status !== 'SKIPPED' && status !== 'INFO') throw new Error(`allowed.txt: ${status} is never allowed`);
  if (where.length < 4) throw new Error(`allowed.txt: no reason given for ${status} ${where.join(' ')}`);
  return { status, where: where.slice(0, 3) };
});
const isAllowed = (status, ...at) =>
  allowed.some((row) => row.status === status && row.where.every((want, i) => want === '*' || want === at[i]));

/** What must have run: [revision, scenario, least number of successes]. */
function expectedScenarios() {
  if (mode === 'scenarios') {
    return rows(rest[0]).map(([revision, scenario, least]) => {
      if (!(Number(least) > 0)) throw new Error(`${rest[0]}: ${revision} ${scenario} names no number of checks`);
      return [revision, scenario, Number(least)];
    });
  }
  return rest.flatMap((want) => {
    const [revision] = want.split('=');
    let scored = false;
    const names = [];
    for (const line of readFileSync(join(dir, `${revision}.list`), 'utf8').split('\n')) {
      if (/^\S/.test(line)) scored = line.startsWith('Server scenarios');
      const [, name, side] = /^\s+- (\S+)(?: \[(\w+)\])?$/.exec(line) ?? [];
      if (name && (side === 'server' || (scored && !side))) names.push(name);
    }
    if (names.length === 0) fault(`${revision}: the requirement set names no server scenario`);
    return names.map((name) => [revision, name, 0]);
  });
}

const expected = expectedScenarios();
const totals = {};
const known = new Set();
for (const [revision, scenario, least] of expected) {
  const at = `${revision} ${scenario}`;
  if (known.has(at)) fault(`${at}: listed twice`);
  known.add(at);
  const folder = join(dir, revision);
  const runs = (existsSync(folder) ? readdirSync(folder) : []).filter(
    (name) => name.replace(/-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/, '') === `server-${scenario}`,
  );
  if (runs.length !== 1) {
    fault(`${at}: ${runs.length} results instead of one`);
    continue;
  }
  let checks;
  try {
    checks = JSON.parse(readFileSync(join(folder, runs[0], 'checks.json'), 'utf8'));
  } catch (error) {
    fault(`${at}: ${error.message}`);
    continue;
  }
  let successes = 0;
  for (const check of checks) {
    if (check.status === 'SUCCESS') successes += 1;
    else if (!isAllowed(check.status, revision, scenario, check.id)) {
      const why = check.errorMessage ?? check.description ?? '';
      const details = check.details ? `\n    ${JSON.stringify(check.details).slice(0, 2000)}` : '';
      fault(`${at}: ${check.status} ${check.id}: ${why}${details}`);
    }
  }
  if (checks.length === 0) fault(`${at}: no checks at all`);
  if (successes < least) fault(`${at}: ${successes} checks succeeded, ${least} must`);
  totals[revision] ??= { scenarios: 0, successes: 0 };
  totals[revision].scenarios += 1;
  totals[revision].successes += successes;
}
if (expected.length === 0) fault('nothing was expected: an empty list proves nothing');

if (mode === 'requirements') {
  for (const want of rest) {
    const [revision, least] = want.split('=');
    const { successes = 0 } = totals[revision] ?? {};
    if (successes < Number(least)) fault(`${revision}: ${successes} checks succeeded, at least ${least} must`);
  }
}

for (const text of faults) console.log(`FAULT ${text}`);
for (const [revision, { scenarios, successes }] of Object.entries(totals)) {
  console.log(`conformance ${revision}: ${scenarios} scenarios, ${successes} checks succeeded`);
}
if (faults.length > 0) {
  console.log(`conformance: ${faults.length} faults`);
  process.exit(1);
}
