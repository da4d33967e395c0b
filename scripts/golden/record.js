'use strict';
/* global clearTimeout, setTimeout */
const { campaignCases } = require('./campaign-cases');
const { addGolden, fetchRuns, goldenText, recordedHistories } = require('./histories');
const { decisionCases } = require('./decision-cases');
const { furtherCases } = require('./further-cases');
const { realCases } = require('./real-cases');
const { searchableCases } = require('./searchable-cases');
const { sharedCases } = require('./shared-cases');
const { scriptedVideoCases } = require('./scripted-cases');
const { openEnvironment } = require('./stage');

const CASES = [
  ...realCases,
  ...scriptedVideoCases,
  ...furtherCases,
  ...decisionCases,
  ...campaignCases,
  ...searchableCases,
  ...sharedCases,
];
/** Version of the workflow code's commands that a file shows. It stays in the name permanently. */
const VERSION = 'v1';

/**
 * Records the chosen cases concurrently, and writes those that ended with the expected outcome.
 * @returns the exit code
 */
async function record({ names }) {
  const recorded = new Set(Object.keys(recordedHistories()).map((file) => file.replace(/\.v\d+\.json$/, '')));
  const isRecorded = ({ name }) => recorded.has(name) || recorded.has(`${name}-run1`);
  const chosen = CASES.filter((one) =>
    names.length > 0 ? names.some((name) => one.name.includes(name)) : !isRecorded(one),
  );
  const refused = chosen.filter(isRecorded);
  if (chosen.length === 0 || refused.length > 0) {
    const already = refused.map(({ name }) => name).join(', ');
    console.error(
      already ? `Golden files are append-only; these already exist: ${already}` : 'Nothing to record.',
    );
    return refused.length > 0 ? 1 : 0;
  }
  const stage = await openEnvironment();
  try {
    const results = await Promise.allSettled(chosen.map((one) => inTime(one, recordCase(one, stage))));
    const failed = results.flatMap((result, index) =>
      result.status === 'rejected' ? [`${chosen[index].name}: ${result.reason?.stack ?? result.reason}`] : [],
    );
    const files = Object.assign({}, ...results.map((result) => result.value));
    addGolden(files);
    console.log(`${Object.keys(files).length} histories recorded.`);
    if (failed.length > 0) console.error(`Not recorded:\n${failed.join('\n')}`);
    return failed.length > 0 ? 1 : 0;
  } finally {
    await stage.close();
  }
}

/** @returns the texts of one case's files by name */
async function recordCase(one, stage) {
  const files = {};
  const started = await one.run(stage);
  for (const execution of started) {
    const { handle, server, stem, firstRunId = handle.firstExecutionRunId, expect = one.expect } = execution;
    const outcome = await ended(handle);
    if (expect !== null && outcome !== expect)
      throw new Error(`${stem} ended with outcome ${outcome} instead of ${expect}`);
    const runs = await fetchRuns(server.client, handle.workflowId, firstRunId);
    runs.forEach((history, index) => {
      const run = runs.length > 1 ? `-run${index + 1}` : '';
      files[`${stem}${run}.${VERSION}.json`] = goldenText(history);
    });
  }
  return files;
}

/** Limits the time of a case, so that a hanging workflow fails it. The slowest case takes 2 minutes. */
async function inTime(one, recording) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${one.name} did not end in time`)), 200_000);
  });
  try {
    return await Promise.race([recording, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function ended(handle) {
  const result = await handle.result();
  return result?.outcome;
}

module.exports = { CASES, record };
