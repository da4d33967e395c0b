'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const path = require('node:path');

const GOLDEN = path.resolve(__dirname, '..', '..', 'test', 'golden');
const MANIFEST = path.join(GOLDEN, 'manifest.json');

/** Constant, so that files contain no process id or host name. */
const IDENTITY = 'golden-recorder';

/** Returns every run of a workflow, oldest first. A continue-as-new leads to the next run. */
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

/**
 * Returns a golden file's text. Drops stack traces, which contain paths of the recording machine and which a replay
 * ignores.
 */
function goldenText(history) {
  // Only recording needs the compiled code. The list of recorded histories is read without it.
  const { historyToJson } = require('../../packages/replay/lib/history-codec.js');
  const withoutPaths = (key, value) => (key === 'stackTrace' ? '' : value);
  return `${JSON.stringify(historyToJson(history), withoutPaths, 1)}\n`;
}

/** Returns name → SHA-256 of every history, from all releases and since. */
function recordedHistories() {
  return Object.assign({}, ...Object.values(readManifest()));
}

function readManifest() {
  return JSON.parse(readFileSync(MANIFEST, 'utf8'));
}

/**
 * Adds files and their hashes to the unreleased ones. An existing name is an error: histories are evidence of what
 * released code did, and never change.
 */
function addGolden(files) {
  const recorded = recordedHistories();
  const taken = Object.keys(files).filter((name) => name in recorded);
  if (taken.length > 0)
    throw new Error(`Golden files are append-only; these already exist: ${taken.join(', ')}`);
  const { unreleased = {}, ...releases } = readManifest();
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(GOLDEN, name), text);
    unreleased[name] = createHash('sha256').update(text).digest('hex');
  }
  const sorted = Object.fromEntries(Object.entries(unreleased).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(MANIFEST, `${JSON.stringify({ ...releases, unreleased: sorted }, null, 2)}\n`);
}

module.exports = { IDENTITY, addGolden, fetchRuns, goldenText, recordedHistories };
