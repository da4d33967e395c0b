'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const path = require('node:path');

const GOLDEN = path.resolve(__dirname, '..', '..', 'test', 'golden');
const MANIFEST = path.join(GOLDEN, 'manifest.json');

/** Constant, so that no process id and no host name gets into a file. */
const IDENTITY = 'golden-recorder';

/** Every run of a workflow, oldest first: a continue-as-new leads to the next one. */
async function fetchRuns(client, workflowId, firstRunId) {
  const runs = [];
  for (let runId = firstRunId; runId;) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push(history);
    const next = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
    runId = next?.newExecutionRunId;
  }
  return runs;
}

/** The text of a golden file. Stack traces name the recording machine's paths, and replay does not look at them. */
function goldenText(history) {
  // Recording runs the compiled workflows too; the list of recorded histories is read without them.
  const { historyToJson } = require('../../packages/replay/lib/history-codec.js');
  const withoutPaths = (key, value) => (key === 'stackTrace' ? '' : value);
  return `${JSON.stringify(historyToJson(history), withoutPaths, 1)}\n`;
}

/** Name → SHA-256 of every history, of all releases and since. */
function recordedHistories() {
  return Object.assign({}, ...Object.values(readManifest()));
}

function readManifest() {
  return JSON.parse(readFileSync(MANIFEST, 'utf8'));
}

/**
 * Adds files and their hashes to those that no release has yet. A name that is there already is an error: histories are
 * evidence of what released code did, and never change.
 */
function addGolden(files) {
  const recorded = recordedHistories();
  const taken = Object.keys(files).filter((name) => name in recorded);
  if (taken.length > 0) throw new Error(`Golden files are append-only: ${taken.join(', ')}`);
  const { unreleased = {}, ...releases } = readManifest();
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(GOLDEN, name), text);
    unreleased[name] = createHash('sha256').update(text).digest('hex');
  }
  const sorted = Object.fromEntries(Object.entries(unreleased).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(MANIFEST, `${JSON.stringify({ ...releases, unreleased: sorted }, null, 2)}\n`);
}

module.exports = { IDENTITY, addGolden, fetchRuns, goldenText, recordedHistories };
