'use strict';
// The pure part of the rules report: the table of rules, the titles of the tests that really ran, and what is missing.

/** @param {string} markdown Text of docs/contract-rules.md. */
function parseRules(markdown) {
  return markdown
    .split('\n')
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cells) => cells.length === 5 && /^C\d/.test(cells[1]))
    .map(([, id, rule, section]) => ({ id, rule, section }));
}

/** Rule ids in a title: `[C7.1]` never matches `[C7.10]`. */
function idsIn(title) {
  return [...title.matchAll(/\[(C\d[^\]\s]*)\]/g)].map((match) => match[1]);
}

/** @param {{[file: string]: {title: string, status: string}[]}} files */
function makeReport(rules, files) {
  const known = new Map(rules.map((rule) => [rule.id, { ...rule, tests: [] }]));
  const unknown = [];
  for (const file of Object.keys(files).sort()) {
    for (const { title, status } of files[file]) {
      for (const id of new Set(idsIn(title))) {
        const row = known.get(id);
        if (row === undefined) unknown.push({ id, file, title });
        else row.tests.push({ file, title, status });
      }
    }
  }
  const rows = [...known.values()];
  // A failed or skipped test does not prove anything, and beside a failed one no passed one does either.
  const gaps = rows.filter(
    ({ tests }) =>
      !tests.some(({ status }) => status === 'passed') || tests.some(({ status }) => status === 'failed'),
  );
  return { rows, gaps, unknown };
}

/** Results of one run on top of older ones: a file that ran replaces its part, a filtered run only what it ran. */
function mergeResults(older, ran, { full, filtered }) {
  if (full) return ran;
  const merged = { ...older };
  for (const [file, tests] of Object.entries(ran)) {
    if (!filtered) {
      merged[file] = tests;
      continue;
    }
    const really = tests.filter(({ status }) => status === 'passed' || status === 'failed');
    const titles = new Set(really.map(({ title }) => title));
    merged[file] = [...(older[file] ?? []).filter(({ title }) => !titles.has(title)), ...really];
  }
  return merged;
}

/** What is missing, one line each. */
function problemLines({ gaps, unknown }) {
  return [
    ...gaps.map(({ id, rule, tests }) => {
      const why = tests.length === 0 ? 'no test' : tests.map(({ status }) => status).join(', ');
      return `${id}: ${why} (${rule})`;
    }),
    ...unknown.map(({ id, file, title }) => `${id}: no such rule, named by ${file}: ${title}`),
  ];
}

module.exports = { idsIn, makeReport, mergeResults, parseRules, problemLines };
