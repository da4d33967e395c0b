'use strict';
const { readFileSync, writeFileSync, mkdirSync } = require('node:fs');
const { createHash } = require('node:crypto');
const path = require('node:path');
const { historyToJson } = require('./history-json');

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
  const withoutPaths = (key, value) => (key === 'stackTrace' ? '' : value);
  return `${JSON.stringify(historyToJson(history), withoutPaths, 1)}\n`;
}

function readManifest() {
  try {
    return JSON.parse(readFileSync(MANIFEST, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}

/**
 * Adds files and their hashes. A name that is there already is an error unless `replace`: histories of released
 * workflow code are evidence and never change.
 */
function addGolden(files, { replace }) {
  const manifest = readManifest();
  const taken = Object.keys(files).filter((name) => name in manifest);
  if (taken.length > 0 && !replace) throw new Error(`Golden files are append-only: ${taken.join(', ')}`);
  mkdirSync(GOLDEN, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(GOLDEN, name), text);
    manifest[name] = createHash('sha256').update(text).digest('hex');
  }
  const sorted = Object.fromEntries(Object.entries(manifest).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(MANIFEST, `${JSON.stringify(sorted, null, 2)}\n`);
}

module.exports = { IDENTITY, addGolden, fetchRuns, goldenText, readManifest };
