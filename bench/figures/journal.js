'use strict';
// What the record of a paid call costs: claim and outcome, each durable before the next step, against the same bytes
// written and fsynced to two plain files. Same disk, taking turns.
const { randomUUID } = require('node:crypto');
const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { createFileJournal } = require('../../lib/journal/file-journal.js');
const { goal } = require('../framework/goal.js');
const { quantile, round, summary } = require('../framework/statistics.js');
const { writeDurably } = require('../framework/write-durably.js');

const title = 'the journal of a paid call against two plain fsynced writes';
const GOAL_MS = 5;

async function run({ scope, say, quick }) {
  const [warmUp, rounds] = quick ? [5, 50] : [100, 2000];
  const folder = await scope.folder();
  const journal = createFileJournal({ root: path.join(folder, 'journal') });
  const writers = { journal: (turn) => byJournal(journal, turn), plain: (turn) => plainly(folder, turn) };
  const times = { journal: [], plain: [], claim: [], outcome: [] };
  for (let turn = 0; turn < warmUp + rounds; turn += 1) {
    const order = turn % 2 === 0 ? ['journal', 'plain'] : ['plain', 'journal'];
    for (const name of order) {
      const startedAt = performance.now();
      const middle = await writers[name](turn);
      if (turn < warmUp) continue;
      const ended = performance.now();
      times[name].push(ended - startedAt);
      if (name === 'journal') {
        times.claim.push(middle - startedAt);
        times.outcome.push(ended - middle);
      }
    }
    if (turn % 500 === 499) say(`round ${turn + 1} of ${warmUp + rounds}`);
  }
  return figures(times);
}

/** As a create does: nobody was here, the intent, the outcome. Gives the time between the two. */
async function byJournal(journal, turn) {
  const key = { namespace: 'default', creationKey: `bench-${turn}` };
  const { claim } = await journal.read(key, 0);
  if (claim !== null) throw new Error('The journal was used before.');
  const intent = intentOf(turn);
  if ((await journal.putClaim(key, 0, intent)) !== 'won') throw new Error('The claim was taken.');
  const middle = performance.now();
  if ((await journal.putOutcome(key, 0, outcomeOf(turn, intent))) !== 'won')
    throw new Error('The outcome was there.');
  return middle;
}

async function plainly(folder, turn) {
  const intent = intentOf(turn);
  await writeDurably(path.join(folder, `${turn}.claim`), JSON.stringify(intent));
  await writeDurably(path.join(folder, `${turn}.outcome`), JSON.stringify(outcomeOf(turn, intent)));
}

function intentOf(turn) {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    v: 1,
    kind: 'intent',
    nonce: randomUUID(),
    operation: 'create_video',
    workflowId: `bench-${turn}`,
    runId: randomUUID(),
    activityId: '1',
    fingerprint: 'f'.repeat(64),
    bodyHash: 'b'.repeat(64),
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

function outcomeOf(turn, { nonce, at, account, model, resolution }) {
  const video = { taskId: `video_${turn}`, account, model, resolution, createdAt: at };
  return { v: 1, nonce, at, answer: { outcome: 'created', sendAttempt: 0, sent: true, video } };
}

function figures(times) {
  const of = (name) => ({ ...summary(times[name], 3), p99: round(quantile(times[name], 0.99), 3) });
  const values = {
    journalMs: of('journal'),
    claimMs: of('claim'),
    outcomeMs: of('outcome'),
    plainMs: of('plain'),
  };
  const ratio = (p) => round(values.journalMs[p] / values.plainMs[p], 2);
  values.ratio = { p50: ratio('p50'), p99: ratio('p99') };
  const row = (text, { p50, p99 }) => [text, round(p50, 2), round(p99, 2)];
  return {
    values,
    table: {
      columns: ['ms', 'p50', 'p99'],
      rows: [
        row('**journal: claim, before the send**', values.claimMs),
        row('**journal: outcome, after it**', values.outcomeMs),
        row('journal: both', values.journalMs),
        row('two plain files, each fsynced', values.plainMs),
        ['times as long', values.ratio.p50, values.ratio.p99],
      ],
    },
    goals: [
      goal('claim, p99', round(values.claimMs.p99, 2), '<=', GOAL_MS, 'ms'),
      goal('outcome, p99', round(values.outcomeMs.p99, 2), '<=', GOAL_MS, 'ms'),
    ],
    notes: [
      `${times.journal.length} rounds, taking turns at going first, one caller at a time, on the disk of the folder for temporary files.`,
      'The journal reads first, makes two folders for each key and fsyncs them and their parents: a record in a lost folder is a lost record. The plain files fsync no folder.',
      'A create with the journal has the history events of one without: `test/proof/journal-cost.test.ts`.',
    ],
  };
}

module.exports = { title, run };
