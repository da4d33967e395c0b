'use strict';
// Cost of a paid call's log in each store: intent and answer, each durable before the next step, against two bare requests
// with the same bytes to the same disk or server. All take turns in one run.
const { randomUUID } = require('node:crypto');
const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { createJournal } = require('../../lib/stores/journal/create-journal.js');
const { createFileRecords } = require('../../lib/stores/journal/file-journal.js');
const { goal } = require('../framework/goal.js');
const { startBucket, startDatabase } = require('../framework/journal-stores.js');
const { quantile, round, summary } = require('../framework/statistics.js');
const { writeDurably } = require('../framework/write-durably.js');

const title = 'journal overhead of a paid call in files, a bucket and a database, against two bare requests';
const GOAL_MS = 5;

async function run({ scope, say, quick }) {
  const [warmUp, rounds] = quick ? [5, 50] : [100, 1000];
  const places = [await files(scope), await bucket(scope, say), await database(scope, say)].filter(Boolean);
  const writers = places.flatMap(({ name, journal, bare }) => [
    { name, kind: 'journal', write: (turn) => byJournal(journal, turn) },
    { name, kind: 'bare', write: (turn) => barely(bare, turn) },
  ]);
  const times = Object.fromEntries(
    places.map(({ name }) => [name, { intent: [], answer: [], journal: [], bare: [] }]),
  );
  for (let turn = 0; turn < warmUp + rounds; turn += 1) {
    for (let at = 0; at < writers.length; at += 1) {
      const { name, kind, write } = writers[(turn + at) % writers.length];
      const startedAt = performance.now();
      const middle = await write(turn);
      const endedAt = performance.now();
      if (turn < warmUp) continue;
      times[name][kind].push(endedAt - startedAt);
      if (kind === 'bare') continue;
      times[name].intent.push(middle - startedAt);
      times[name].answer.push(endedAt - middle);
    }
    if (turn % 250 === 249) say(`round ${turn + 1} of ${warmUp + rounds}`);
  }
  return figures(times, places, rounds);
}

async function files(scope) {
  const folder = await scope.folder();
  return {
    name: 'files',
    text: 'two plain files, each fsynced',
    journal: createJournal(createFileRecords({ root: path.join(folder, 'journal') })),
    bare: (name, text) => writeDurably(path.join(folder, name), text),
  };
}

async function bucket(scope, say) {
  const bucket = await startBucket(scope, say);
  return (
    bucket && {
      name: 's3',
      text: 'two bare PUTs to the same gateway',
      journal: createJournal(bucket.records),
      bare: (name, text) => bucket.put(`bare/${name}`, text),
    }
  );
}

async function database(scope, say) {
  const database = await startDatabase(scope, say);
  if (database === undefined) return undefined;
  const { pool, records } = database;
  await pool.query('CREATE TABLE bare (name text PRIMARY KEY, body text NOT NULL)');
  return {
    name: 'postgres',
    text: 'two bare INSERTs into the same database',
    journal: createJournal(records),
    bare: (name, text) => pool.query('INSERT INTO bare (name, body) VALUES ($1, $2)', [name, text]),
  };
}

/** As a create does: nobody was here, the intent, the answer. Gives the time between the two. */
async function byJournal(journal, turn) {
  const key = keyOf(turn);
  if ((await journal.read(key)).length > 0) throw new Error('The journal was used before.');
  const intent = intentOf(turn);
  if ((await journal.append(key, 0, intent)) !== 'won') throw new Error('The intent was there.');
  const middle = performance.now();
  if ((await journal.append(key, 1, answerOf(turn, intent))) !== 'won')
    throw new Error('The answer was there.');
  return middle;
}

async function barely(write, turn) {
  const intent = intentOf(turn);
  await write(`${turn}.intent`, JSON.stringify(intent));
  await write(`${turn}.answer`, JSON.stringify(answerOf(turn, intent)));
}

const keyOf = (turn) => ({ namespace: 'default', creationKey: `bench-${turn}` });

function intentOf(turn) {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    v: 1,
    kind: 'intent',
    ...keyOf(turn),
    nonce: randomUUID(),
    sender: randomUUID(),
    operation: 'create_video',
    workflowId: `bench-${turn}`,
    runId: randomUUID(),
    activityId: '1',
    attemptAt: at,
    fingerprint: 'f'.repeat(64),
    bodyHash: 'b'.repeat(64),
    idempotencyKey: 'k'.repeat(64),
    account: 'default@00000000',
    model: 'cine-1',
    durationSeconds: 5,
    resolution: '720p',
    referenceMode: null,
    estimate: null,
    at,
    sendWindowEnd: at,
  };
}

function answerOf(turn, { nonce, at, account, model, resolution }) {
  const video = { taskId: `video_${turn}`, account, model, resolution, createdAt: at };
  return {
    v: 1,
    kind: 'answer',
    nonce,
    at,
    answer: { outcome: 'created', sendAttempt: 0, sent: true, video },
  };
}

function figures(times, places, rounds) {
  const values = {};
  const rows = [];
  for (const { name, text } of places) {
    const of = (kind) => ({
      ...summary(times[name][kind], 3),
      p99: round(quantile(times[name][kind], 0.99), 3),
    });
    const store = {
      intentMs: of('intent'),
      answerMs: of('answer'),
      journalMs: of('journal'),
      bareMs: of('bare'),
    };
    const ratio = (p) => round(store.journalMs[p] / store.bareMs[p], 2);
    store.ratio = { p50: ratio('p50'), p99: ratio('p99') };
    values[name] = store;
    const row = (what, { p50, p99 }) => [`${name}: ${what}`, round(p50, 2), round(p99, 2)];
    rows.push(
      row('**intent, before the send**', store.intentMs),
      row('**answer, after the send**', store.answerMs),
      row('both', store.journalMs),
      row(text, store.bareMs),
      [`${name}: ratio`, store.ratio.p50, store.ratio.p99],
    );
  }
  return {
    values,
    table: { columns: ['ms', 'p50', 'p99'], rows },
    goals: [
      goal('intent in files, p99', round(values.files.intentMs.p99, 2), '<=', GOAL_MS, 'ms'),
      goal('answer in files, p99', round(values.files.answerMs.p99, 2), '<=', GOAL_MS, 'ms'),
    ],
    notes: [
      `${rounds} rounds with alternating order, one caller at a time. The bucket (versitygw) and the database (PostgreSQL) write to this machine's disk; a network adds its latency to each request.`,
      'An intent first reads the log and leaves a hint: a list and two puts in a bucket, three statements in a database. An answer is one request, and the hint is removed afterwards.',
      'In files the journal creates two folders per key and fsyncs them and their parents, because a record in a lost folder is lost. The plain files fsync no folder.',
      'The journal adds no history events to a create (`test/proof/journal-cost.test.ts`).',
    ],
  };
}

module.exports = { title, run };
