'use strict';
// Reads the results of the test/proof suites and checks whether they keep the promises in proof/promises.json.
const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');
/** Folder of the committed results. */
const COMMITTED = path.join(ROOT, 'proof', 'results');
/** Where test/support/proof.ts writes unless PROOF_OUT says otherwise. */
const WRITTEN = path.join(ROOT, 'node_modules', '.cache', 'temporal-media', 'proof');
const SIZES = ['change', 'deep'];

const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

/** Returns `{promises, assumptions, cannot}` and the failure model's rows. */
function readPromises() {
  return {
    ...readJson(path.join(ROOT, 'proof', 'promises.json')),
    ...readJson(path.join(ROOT, 'proof', 'rows.json')),
  };
}

/** Returns suite → counts for one size. A suite that has not run is absent. */
function readResults(folder, size) {
  const place = path.join(folder, size);
  const names = fs.existsSync(place) ? fs.readdirSync(place).filter((name) => name.endsWith('.json')) : [];
  const records = names.sort().map((name) => readJson(path.join(place, name)));
  return new Map(records.map(({ suite, counts }) => [suite, counts]));
}

/** Returns in sentences what one suite fails to show; empty if it shows everything. */
function shortcomings({ suite, zero = [], figures = [], atLeast = {} }, counts, size) {
  if (counts === undefined) return [`${suite} (${size}) has not finished a run`];
  const wanted = Object.entries(atLeast[size] ?? {});
  const unknown = [...zero, ...figures, ...wanted.map(([what]) => what)].filter((what) => !(what in counts));
  return [
    ...unknown.map((what) => `${suite} (${size}) does not report a count of ${what}`),
    ...zero
      .filter((what) => counts[what] > 0)
      .map((what) => `${suite} (${size}): ${counts[what]} ${what}, not 0`),
    ...wanted
      .filter(([what, least]) => counts[what] < least)
      .map(([what, least]) => `${suite} (${size}): ${counts[what]} ${what}, not ${least}`),
  ];
}

/** Returns all promises' proofs that name a suite. */
function suiteProofs({ promises }) {
  return promises.flatMap(({ proofs }) => proofs.filter(({ suite }) => suite !== undefined));
}

module.exports = { COMMITTED, ROOT, SIZES, WRITTEN, readPromises, readResults, shortcomings, suiteProofs };
