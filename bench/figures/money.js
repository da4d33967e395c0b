'use strict';
// What closing a month costs: `money report` and `money check` over a whole journal, as processes, in each kind of store.
// The journal and the invoice are written by this file, without fsync and not by calls, which would take a day.
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { createWriteStream, mkdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { clearInterval, setInterval } = require('node:timers');
const { fileOfRecord, createFileRecords } = require('../../lib/stores/journal/file-journal.js');
const { createJournal } = require('../../lib/stores/journal/create-journal.js');
const { entryName, keyPrefix } = require('../../lib/stores/journal/records.js');
const { startBucket, startDatabase } = require('../framework/journal-stores.js');
const { cpuMs, watchMemory } = require('../framework/process-usage.js');
const { round } = require('../framework/statistics.js');

const title = 'money report and money check over a whole journal in files, a bucket and a database';
const MAIN = path.resolve(__dirname, '../../packages/cli/lib/main.js');
const CALLS = { files: 1_000_000, s3: 100_000, postgres: 1_000_000 };
/** `BENCH_STORES=s3` measures only these; `BENCH_SIZES=1000000` sets the calls of all. */
const STORES = process.env.BENCH_STORES?.split(',') ?? Object.keys(CALLS);
const QUICK = { files: 2_000, s3: 500, postgres: 2_000 };
/** Bills that are recorded: each is a durable write. */
const BILLS = 20_000;
const BYTES_PER_MIB = 1024 * 1024;

async function run({ scope, say, quick }) {
  const sizes = quick ? QUICK : CALLS;
  const folder = await scope.folder();
  const values = {};
  for (const [name, open] of Object.entries({ files, postgres: database, s3: bucket })) {
    if (!STORES.includes(name)) continue;
    const place = await open(scope, say, folder);
    if (place === undefined) continue;
    const calls = Number(process.env.BENCH_SIZES ?? sizes[name]);
    const seedingAt = performance.now();
    await place.seed(calls);
    say(`${name}: ${calls} calls written in ${Math.round((performance.now() - seedingAt) / 1000)} s`);
    const invoice = await writeInvoice(path.join(folder, `${name}.csv`), calls, timeOf);
    const part = await writeInvoice(path.join(folder, `${name}-part.csv`), Math.min(calls, BILLS));
    const env = { ...place.env, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    values[name] = { calls };
    for (const [what, args] of Object.entries({
      report: ['report', '--by', 'month,model'],
      check: ['check', invoice],
      apply: ['check', part, '--apply'],
    })) {
      values[name][what] = await command(['money', ...args, '--json'], env);
      say(`${name}: ${what} took ${values[name][what].seconds} s and ${values[name][what].mib} MiB`);
    }
  }
  return figures(values);
}

async function command(args, env) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => (stdout += text));
  child.stderr.on('data', (text) => (stderr += text));
  const memory = watchMemory(child.pid);
  // The last look is at most this long before its end.
  let cpu = 0;
  const timer = setInterval(() => (cpu = child.exitCode === null ? cpuMs(child.pid) : cpu), 100);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  const mib = Math.round(memory.stop() / BYTES_PER_MIB);
  if (code !== 0)
    throw new Error(`temporal-media ${args.join(' ')} ended with ${code}: ${stderr}${stdout.slice(0, 2000)}`);
  const { keys, agreed, applied } = JSON.parse(stdout).data;
  const seconds = round((performance.now() - startedAt) / 1000, 1);
  return { seconds, cpuSeconds: round(cpu / 1000, 1), mib, keys, agreed, applied };
}

async function files(_scope, _say, folder) {
  const root = path.join(folder, 'data', 'journal');
  await createJournal(createFileRecords({ root })).identity();
  return {
    env: { MEDIA_DATA_DIR: path.join(folder, 'data') },
    seed: async (calls) => {
      for (const { name, text } of recordsOf(calls)) {
        const file = fileOfRecord(root, name);
        if (name.endsWith('/0.entry')) mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, text);
      }
    },
  };
}

async function bucket(scope, say) {
  const { env, put, records } = (await startBucket(scope, say)) ?? {};
  if (env === undefined) return undefined;
  await createJournal(records).identity();
  return {
    env,
    seed: async (calls) => {
      const all = recordsOf(calls);
      const lane = async () => {
        for (const { name, text } of { [Symbol.iterator]: () => ({ next: () => all.next() }) })
          await put(`journal/${name}`, text);
      };
      await Promise.all(Array.from({ length: 32 }, lane));
    },
  };
}

async function database(scope, say) {
  const { env, pool, records } = (await startDatabase(scope, say)) ?? {};
  if (env === undefined) return undefined;
  await createJournal(records).identity();
  const { escapeLiteral } = require('pg');
  return {
    env,
    seed: async (calls) => {
      let rows = [];
      const flush = async () => {
        await pool.query(`INSERT INTO media_journal (name, body) VALUES ${rows.join(',')}`);
        rows = [];
      };
      for (const { name, text } of recordsOf(calls)) {
        rows.push(`(${escapeLiteral(name)}, ${escapeLiteral(text)})`);
        if (rows.length === 1_000) await flush();
      }
      if (rows.length > 0) await flush();
      await pool.query('ANALYZE media_journal');
    },
  };
}

/** The records of each call: its intent and its answer. */
function* recordsOf(calls) {
  for (let call = 0; call < calls; call += 1) {
    const intent = intentOf(call);
    const prefix = keyPrefix(intent);
    yield { name: entryName(prefix, 0), text: JSON.stringify(intent) };
    yield { name: entryName(prefix, 1), text: JSON.stringify(answerOf(call, intent)) };
  }
}

const taskOf = (call) => `video_${String(call).padStart(24, '0')}`;
/** The calls are spread over one month. */
const timeOf = (call) => new Date(Date.UTC(2026, 10, 1) + (call % 2_500_000) * 1_000).toISOString();

function intentOf(call) {
  const at = timeOf(call);
  return {
    v: 1,
    kind: 'intent',
    namespace: 'default',
    creationKey: `order-${call}`,
    nonce: `${String(call).padStart(8, '0')}-0000-4000-8000-000000000000`,
    sender: `run-${call}/1`,
    operation: 'create_video',
    workflowId: `order-${call}`,
    runId: `run-${call}`,
    activityId: '1',
    attemptAt: at,
    fingerprint: 'f'.repeat(64),
    bodyHash: 'b'.repeat(64),
    idempotencyKey: 'k'.repeat(64),
    account: 'default@00000000',
    model: 'cine-1',
    durationSeconds: 2,
    resolution: '720p',
    referenceMode: 'none',
    estimate: { microUnits: 100_000, currency: 'USD' },
    at,
    sendWindowEnd: at,
  };
}

function answerOf(call, { nonce, at, account, model, resolution }) {
  const polling = { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 };
  const facts = { durationSeconds: 2, resolution, referenceMode: 'none', source: 'create_reply', polling };
  const video = { taskId: taskOf(call), account, model, createdAt: at, ...facts };
  const answer = { outcome: 'created', sendAttempt: 0, sent: true, account, estimate: null, video };
  return { v: 1, kind: 'answer', nonce, at, answer: { ...answer, status: 'queued', warnings: [] } };
}

/** Without times, calls that the invoice does not bill are not judged. */
async function writeInvoice(file, calls, time = () => '') {
  const stream = createWriteStream(file);
  stream.write('time,task_id,model,amount,currency\n');
  for (let call = 0; call < calls; call += 1)
    if (!stream.write(`${time(call)},${taskOf(call)},cine-1,0.10,USD\n`)) await once(stream, 'drain');
  stream.end();
  await once(stream, 'finish');
  return file;
}

function figures(values) {
  const rows = Object.entries(values).flatMap(([name, { calls, ...commands }]) =>
    Object.entries(commands).map(([what, { seconds, cpuSeconds, mib }]) => [
      `${name}: ${TEXTS[what]}`,
      calls,
      seconds,
      cpuSeconds,
      round((seconds / calls) * 1_000_000, 0),
      mib,
    ]),
  );
  return {
    values,
    table: { columns: ['', 'calls', 'seconds', 'CPU seconds', 'µs per call', 'MiB'], rows },
    goals: [],
    notes: [
      'Each command is a process. Memory is its peak resident set. An invoice with one line for each call agrees with the journal. `--apply` reads the journal twice.',
      'The bucket (versitygw) and the database (PostgreSQL) are on this machine; a network adds its latency to each request.',
    ],
  };
}

const TEXTS = {
  report: '`money report --by month,model`',
  check: '`money check`',
  apply: `\`money check --apply\`, at most ${BILLS.toLocaleString('en')} bills`,
};

module.exports = { title, run };
