'use strict';
/**
 * A media worker in which each workflow `<point>/…` stops at the crash point of its name, and says `at <point>`. What is
 * stopped goes on once the process drains (SIGTERM) or was continued (SIGCONT). The workflow `first_byte/…` does not
 * stop: just before the first byte of its create the process signals itself (SELF_SIGNAL), so that everybody else is at
 * a point of its own in that moment. Hooks are around the journal and two functions of Node; the package is as built.
 */
const files = require('node:fs/promises');
const { subscribe } = require('node:diagnostics_channel');
const { sep } = require('node:path');

let release;
const released = new Promise((resolve) => (release = resolve));
const seen = new Set();
const say = (line) => process.stdout.write(`${line}\n`);

/** Stops the workflow of this activity here if the point is its own, the first time that it comes by. */
async function park(point) {
  if (point === undefined || ownPoint() !== point) return;
  await stop(point);
}

async function stop(place) {
  if (seen.has(place)) return;
  seen.add(place);
  say(`at ${place}`);
  await released;
}

// Before the package takes its own reference: the record or the file has its name, its folder is not synced yet.
const { link } = files;
files.link = async (source, destination) => {
  const artifact = destination.includes(`${sep}artifacts${sep}sha256${sep}`);
  if (artifact) await park('part_before_publish');
  await link(source, destination);
  if (artifact) await park('part_published');
  if (destination.endsWith('.entry')) await park('intent_linked');
};

const { activityInfo } = require('@temporalio/activity');
const { runWorkerProcess } = require('../../support/worker-main.js');

function ownPoint() {
  try {
    return activityInfo().workflowExecution.workflowId.split('/')[0];
  } catch {
    return undefined;
  }
}

/** Points before and after an entry is written; its first one is the intent of a send. */
const POINTS = {
  intent: ['before_intent', 'intent_durable'],
  fence: ['reconcile', undefined],
  answer: ['reply_read', 'answer_durable'],
  decision: ['before_decision', 'decision_durable'],
};

function parking(journal) {
  return {
    ...journal,
    async append(key, n, entry) {
      const [before, after] = POINTS[entry.kind] ?? [];
      if (entry.kind === 'intent' && ownPoint() === 'reconcile') await stop('reconcile:create');
      else await park(before);
      const end = await journal.append(key, n, entry);
      await park(after);
      return end;
    },
  };
}

subscribe('undici:client:sendHeaders', ({ request }) => {
  if (request.method !== 'POST' || seen.has('first_byte')) return;
  if (!String(request.body).includes('"prompt":"first_byte/')) return;
  seen.add('first_byte');
  say('at first_byte');
  process.kill(process.pid, process.env['SELF_SIGNAL']);
  // A stop reaches the other threads first: not one more step until this one has stopped too.
  if (process.env['SELF_SIGNAL'] === 'SIGSTOP')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
});

// Also the package's own drain listens: it has started when what is stopped goes on.
process.once('SIGTERM', () => {
  say('draining');
  release();
});
process.once('SIGCONT', () => {
  say('continued');
  release();
});

/** In a bucket or a database the record is there when the store says so, and the journal does not know it yet. */
function parkingRecords(records) {
  if (records.kind === 'file') return records;
  return {
    ...records,
    async create(name, text) {
      const end = await records.create(name, text);
      if (name.endsWith('.entry')) await park('intent_linked');
      return end;
    },
  };
}

function parkingArtifacts(artifacts) {
  if (artifacts.kind === 'file') return artifacts;
  const { stage } = artifacts;
  artifacts.stage = async (...args) => {
    const part = await stage.apply(artifacts, args);
    const { publish } = part;
    part.publish = async (...type) => {
      await park('part_before_publish');
      const ref = await publish.apply(part, type);
      await park('part_published');
      return ref;
    };
    return part;
  };
  return artifacts;
}

runWorkerProcess(parking, { records: parkingRecords, artifacts: parkingArtifacts });
