'use strict';
// How many videos a caller pays for when replies are lost: creates counted by the server, from this package (workflow,
// worker, journal), the installed version of the official `openai` client, and newer peers that need Node 22. All run at
// the same time against sandboxes in the same mode. Also counts which of them keep a file that is not a video.
const { openaiCreates } = require('../openai-creates.js');
const { installPeers, PEERS, peerCreates, peerFile } = require('../peers.js');
const { FAULT_NAMES, faultRule } = require('../wire-faults.js');
const { goal } = require('../framework/goal.js');
const { startMediaStack, startSandbox } = require('../framework/media-stack.js');

const title = 'creates that the server counts under eight wire faults, for this package and other clients';

/** With the client's default timeout of ten minutes, a stall would last half an hour. Ours is not shortened. */
const OPENAI_TIMEOUT_MS = 2_000;
/** The client has no limit for a stalled body. */
const OPENAI_GIVE_UP_MS = 20_000;

/** `once`: one reply is lost. `always`: every reply is. */
const CASES = { once: 1, always: 0 };

/** Faults that spoil the first reply with a finished video's bytes. */
const FILE_FAULTS = {
  'error page as JSON, 200 and video/mp4': { operation: 'content', action: { type: 'json_page' } },
  'error page as HTML, 200 and video/mp4': { operation: 'content', action: { type: 'html_page' } },
  'file cut short, Content-Length agrees': { operation: 'media', action: { type: 'truncate', bytes: 5_000 } },
};

async function run(context) {
  const { scope, quick } = context;
  const faults = quick ? ['reset', '429'] : FAULT_NAMES;
  const stack = await startMediaStack(context, { sandbox: { mode: 'compat' } });
  const theirs = await startSandbox(scope, { mode: 'compat' });
  const peers = await installPeers(context);
  const names = peers === undefined ? [] : Object.keys(PEERS);
  const [ours, openai, ...others] = await Promise.all([
    oursUnder(stack, faults, context),
    openaiUnder(theirs, faults),
    ...names.map((client) => peerUnder(context, peers, client, faults)),
  ]);
  const files = quick ? [] : await filesOf(context, stack, peers, names);
  return { server: stack.serverVersion, ...figures(faults, { ours, openai, others, names, files }) };
}

const LIMITS = { timeoutMs: OPENAI_TIMEOUT_MS, giveUpMs: OPENAI_GIVE_UP_MS };

async function peerUnder({ scope, say }, peers, client, faults) {
  const sandbox = await startSandbox(scope, { mode: 'compat', timing: { queuedMs: 0, runningMs: 0 } });
  const results = [];
  for (const fault of faults) {
    for (const [name, times] of Object.entries(CASES)) {
      const one = await peerCreates(peers, sandbox, client, fault, { ...LIMITS, times });
      say(`${PEERS[client]}, ${fault}, ${name}: ${one.sent} / ${one.accepted}, ${one.outcome}`);
      results.push({ ...one, times: name });
    }
  }
  return results;
}

/** Which clients keep an incomplete video. The complete file's hash is the same for all tasks of a sandbox. */
async function filesOf({ scope, say }, stack, peers, names) {
  const good = await ourFile(stack, null);
  const rows = [];
  for (const [name, fault] of Object.entries(FILE_FAULTS)) {
    const ours = await ourFile(stack, fault, name);
    const row = { fault: name, ours: kept(ours, good), peers: {} };
    for (const client of names) {
      const sandbox = await startSandbox(scope, { mode: 'compat', timing: { queuedMs: 0, runningMs: 0 } });
      row.peers[client] = kept(await peerFile(peers, sandbox, client, fault, LIMITS), good);
    }
    say(JSON.stringify(row));
    rows.push(row);
  }
  return rows;
}

const kept = ({ outcome, sha256 }, good) =>
  sha256 == null ? `no file, ${outcome}` : sha256 === good.sha256 ? 'the video' : 'the bad file';

async function ourFile({ sandbox, media }, fault, name = 'none') {
  if (fault !== null) await sandbox.admin.addFaults([{ ...fault, times: 1 }]);
  const request = { model: 'cine-1', prompt: `a cat on a roof`, durationSeconds: 4 };
  const started = await media.startVideo({ request }, { id: `bench file ${name}` });
  const { outcome, artifact } = await started.result();
  return { outcome, sha256: artifact?.sha256 };
}

/** Runs all cells at the same time, each with its own prompt, because a stall lasts for a create's whole time budget. */
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
  const results = [];
  for (const fault of faults) {
    for (const [name, times] of Object.entries(CASES)) {
      results.push({ ...(await openaiCreates(sandbox, fault, { ...LIMITS, times })), times: name });
    }
  }
  return results;
}

function figures(faults, { ours, openai, others, names, files }) {
  const cell = (results, fault, times) => {
    const one = results.find((result) => result.fault === fault && result.times === times);
    return `${one.sent} / ${one.accepted}, ${one.outcome}`;
  };
  const most = (results) => Math.max(...results.map(({ accepted }) => accepted));
  const installed = `openai ${require('openai/version').VERSION}`;
  const all = [
    ['this package', ours],
    [installed, openai],
    ...names.map((client, at) => [PEERS[client], others[at]]),
  ];
  const hit = { once: 'one reply hit', always: 'every reply hit' };
  return {
    values: {
      ours,
      openai,
      others: Object.fromEntries(names.map((client, at) => [client, others[at]])),
      files,
    },
    table: {
      columns: [
        'Fault (sent / accepted, outcome)',
        ...Object.keys(CASES).flatMap((times) => all.map(([who]) => `${who}, ${hit[times]}`)),
      ],
      rows: faults.map((fault) => [
        fault,
        ...Object.keys(CASES).flatMap((times) => all.map(([, results]) => cell(results, fault, times))),
      ]),
    },
    goals: [goal('highest number of videos accepted per call of this package', most(ours), '<=', 1, 'video')],
    notes: [
      ...all
        .slice(1)
        .map(([who, results]) => `With ${who} the server accepted up to ${most(results)} videos per call.`),
      ...(names.length === 0
        ? ['openai 7 and AI SDK 7 were SKIPPED, because they need Node 22 and npm.']
        : []),
      ...files.map(
        ({ fault, ours: own, peers }) =>
          `Kept after one ${fault}: this package ${own}; ${names.map((client) => `${PEERS[client]} ${peers[client]}`).join('; ')}.`,
      ),
      `The openai clients' timeout is ${OPENAI_TIMEOUT_MS / 1000} s per attempt (default 10 min), and every client is stopped after ${OPENAI_GIVE_UP_MS / 1000} s. All other settings are defaults.`,
      'This package runs with its defaults, so a stall ends at the 60 s limit of a create.',
      'Accepted means that a video was created and paid for, whether or not its id reached the caller.',
      'unconfirmed: sent once with an unknown outcome, which is reported, and never sent again automatically. still_running: the caller has the id.',
    ],
  };
}

module.exports = { title, run };
