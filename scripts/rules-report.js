'use strict';
// The pure part of the rules report: the table of rules, the titles of the tests that ran, and the gaps.

/** @param {string} markdown Text of docs/contract-rules.md. */
function parseRules(markdown) {
  return markdown
    .split('\n')
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cells) => cells.length === 5 && /^C\d/.test(cells[1]))
    .map(([, id, rule, section]) => ({ id, rule, section }));
}

/** Returns the rule ids in a title. `[C7.1]` never matches `[C7.10]`. */
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
  // A failed or skipped test proves nothing. If one test fails, a passed one proves nothing either.
  const gaps = rows.filter(
    ({ tests }) =>
      !tests.some(({ status }) => status === 'passed') || tests.some(({ status }) => status === 'failed'),
  );
  return { rows, gaps, unknown };
}

/**
 * Merges one run's results into older ones. A file that ran replaces its part; a filtered run replaces only what it
 * ran.
 */
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

/**
 * Returns every text in a test's source that names a rule: titles as written, before `it.each` fills them in. Reads
 * line by line, because an apostrophe in a comment would otherwise invert all quotes after it.
 */
function titlesIn(source) {
  return source
    .split('\n')
    .flatMap((line) => [...line.matchAll(/(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)])
    .map(([, quote, text]) => (quote === '`' ? text : text.replace(/\\(.)/g, '$1')))
    .filter((text) => idsIn(text).length > 0);
}

/** Returns the results together with the titles in sources without a result, with status `not run`. */
function withNotRun(files, sources) {
  const all = { ...files };
  for (const [file, source] of Object.entries(sources)) {
    const ran = files[file] ?? [];
    const notRun = [...new Set(titlesIn(source))].filter((title) => {
      const filledIn = new RegExp(title.split(PLACEHOLDER).map(escaped).join('.*'));
      return !ran.some((test) => filledIn.test(test.title));
    });
    if (notRun.length > 0) all[file] = [...ran, ...notRun.map((title) => ({ title, status: 'not run' }))];
  }
  return all;
}

/** Placeholders of `it.each` and of template texts. */
const PLACEHOLDER = /%[sdifjop#]|\$\{[^}]*\}|\$[\w.]+/;

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether a text names the rule: C7.10 does not name C7.1, and C4.4a does not name C4.4. */
function namesRule(text, id) {
  return new RegExp(`(?<![\\w.])${escaped(id)}(?![0-9a-z]|\\.[0-9])`).test(text);
}

/** Returns at most six ids similar to a nonexistent one: those that begin with it, then those one character away. */
function nearIds(wrong, ids) {
  const asked = wrong.toUpperCase();
  const longer = ids.filter((id) => id.toUpperCase().startsWith(asked));
  const similar = ids.filter((id) => distance(asked, id.toUpperCase()) <= 1);
  return [...new Set([...longer, ...similar])].slice(0, 6);
}

/** Returns the number of characters to change, add or remove. */
function distance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1));
    row = next;
  }
  return row[to.length];
}

/** Returns the problems, one line each. */
function problemLines({ gaps, unknown }) {
  return [
    ...gaps.map(({ id, rule, tests }) => {
      const why = tests.length === 0 ? 'no test' : tests.map(({ status }) => status).join(', ');
      return `${id}: ${why} (${rule})`;
    }),
    ...unknown.map(({ id, file, title }) => `${id}: no such rule, named by ${file}: ${title}`),
  ];
}

module.exports = {
  idsIn,
  makeReport,
  mergeResults,
  namesRule,
  nearIds,
  parseRules,
  problemLines,
  titlesIn,
  withNotRun,
};
