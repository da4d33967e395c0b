'use strict';
// How many videos a caller pays for when replies get lost: creates as the server counts them, by this package (workflow,
// worker, journal) and by the official `openai` client, at the same time, against sandboxes in the same mode.
const { openaiCreates } = require('../openai-creates.js');
const { FAULT_NAMES, faultRule } = require('../wire-faults.js');
const { goal } = require('../framework/goal.js');
const { startMediaStack, startSandbox } = require('../framework/media-stack.js');

const title = 'creates counted by the server under eight wire faults, this package against the openai client';

/** The client's own time-out of ten minutes would make a stall last half an hour; ours is not shortened. */
const OPENAI_TIMEOUT_MS = 2_000;
/** A stalled body is waited for without any limit of its own. */
const OPENAI_GIVE_UP_MS = 20_000;

/** `once`: one reply is lost. `always`: every reply is. */
const CASES = { once: 1, always: 0 };

async function run(context) {
  const { scope, quick } = context;
  const faults = quick ? ['reset', '429'] : FAULT_NAMES;
  const stack = await startMediaStack(context, { sandbox: { mode: 'compat' } });
  const theirs = await startSandbox(scope, { mode: 'compat' });
  const [ours, openai] = await Promise.all([oursUnder(stack, faults, context), openaiUnder(theirs, faults)]);
  return { server: stack.serverVersion, ...figures(faults, ours, openai) };
}

/** All cells at once, each with a prompt of its own: a stall lasts as long as the whole budget of a create. */
async function oursUnder({ sandbox, media }, faults, { say }) {
  const cells = faults.flatMap((fault) => Object.keys(CASES).map((times) => ({ fault, times })));
  const marked = cells.map((cell) => ({ ...cell, prompt: `a cat on a roof, ${cell.fault}, ${cell.times}` }));
  await sandbox.admin.addFaults(
    marked.map(({ fault, times, prompt }) => ({ ...faultRule(fault, CASES[times]), promptIncludes: prompt })),
  );
  const outcomes = await Promise.all(
    marked.map(async ({ fault, times, prompt }) => {
      const request = { model: 'cine-1', prompt, durationSeconds: 4 };
      const started = await media.startVideo({ request, waitFor: '1s' }, { id: `bench ${fault} ${times}` });
      const { outcome } = await started.result();
      say(`${fault}, ${times}: ${outcome}`);
      return outcome;
    }),
  );
  const creates = await sandbox.admin.requests({ operation: 'create' });
  return marked.map(({ fault, times, prompt }, at) => {
    const sent = creates.filter(({ json }) => json?.prompt === prompt);
    const accepted = sent.filter((create) => create.accepted).length;
    return { fault, times, sent: sent.length, accepted, outcome: outcomes[at] };
  });
}

async function openaiUnder(sandbox, faults) {
  const limits = { timeoutMs: OPENAI_TIMEOUT_MS, giveUpMs: OPENAI_GIVE_UP_MS };
  const results = [];
  for (const fault of faults) {
    for (const [name, times] of Object.entries(CASES)) {
      results.push({ ...(await openaiCreates(sandbox, fault, { ...limits, times })), times: name });
    }
  }
  return results;
}

function figures(faults, ours, openai) {
  const cell = (results, fault, times) => {
    const one = results.find((result) => result.fault === fault && result.times === times);
    return `${one.sent} / ${one.accepted}, ${one.outcome}`;
  };
  const most = (results) => Math.max(...results.map(({ accepted }) => accepted));
  return {
    values: { ours, openai },
    table: {
      columns: [
        'Fault (sent / accepted, outcome)',
        'this package, one reply hit',
        'openai client, one reply hit',
        'this package, every reply hit',
        'openai client, every reply hit',
      ],
      rows: faults.map((fault) => [
        fault,
        ...Object.keys(CASES).flatMap((times) => [cell(ours, fault, times), cell(openai, fault, times)]),
      ]),
    },
    goals: [goal('videos accepted per call of this package, at most', most(ours), '<=', 1, 'videos')],
    notes: [
      `With the openai client ${require('openai/version').VERSION} the server accepted up to ${most(openai)} videos per call. Its time-out is set to ${OPENAI_TIMEOUT_MS / 1000} s per attempt (default 10 min) and it is given up on after ${OPENAI_GIVE_UP_MS / 1000} s; everything else is its default.`,
      'This package runs with its defaults, nothing shortened: a stall ends after the 60 s of its create.',
      'Accepted means that a video is made and paid for, whether or not its id reached the caller.',
      'unconfirmed: sent once, fate unknown, told so, never sent again by itself. still_running: the id is there.',
    ],
  };
}

module.exports = { title, run };
