import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  idsIn,
  makeReport,
  mergeResults,
  namesRule,
  nearIds,
  parseRules,
  problemLines,
  titlesIn,
  withNotRun,
} from '../../scripts/rules-report';

const ROOT = path.resolve(__dirname, '..', '..');
const TABLE = `Some words | with a bar.

| Id | Rule | Section |
|---|---|---|
| C7.1 | First. | 7 |
| C7.10 | Second with \`a\`. | 7, 4 rule 4 |
`;
const rules = parseRules(TABLE);
const passed = (title: string) => ({ title, status: 'passed' });

it('reads the table of rules', () => {
  expect(rules).toEqual([
    { id: 'C7.1', rule: 'First.', section: '7' },
    { id: 'C7.10', rule: 'Second with `a`.', section: '7, 4 rule 4' },
  ]);
});

it('reads ids in brackets only, as whole words', () => {
  expect(idsIn('a video [C7.1] [C4.4a] and [C2.1.1] after C3.1 (C3.2) [data[0]] [CODE]')).toEqual([
    'C7.1',
    'C4.4a',
    'C2.1.1',
  ]);
  expect(idsIn('[C7.10] x')).toEqual(['C7.10']);
});

it('is complete when every rule has a test that passed', () => {
  const report = makeReport(rules, { 'a.test.ts': [passed('x [C7.1] y'), passed('[C7.10] [C7.10]')] });
  expect(problemLines(report)).toEqual([]);
  expect(report.rows[1]?.tests).toHaveLength(1);
});

it('a longer id never counts for a shorter one, and a rule without a test is a gap', () => {
  const report = makeReport(rules, { 'a.test.ts': [passed('[C7.10] x')] });
  expect(report.gaps.map(({ id }) => id)).toEqual(['C7.1']);
  expect(problemLines(report)).toEqual(['C7.1: no test (First.)']);
});

it.each(['pending', 'skipped', 'todo', 'disabled', 'failed'])(
  'a test that is %s proves nothing',
  (status) => {
    const report = makeReport(rules, { 'a.test.ts': [{ title: '[C7.1] x', status }, passed('[C7.10] x')] });
    expect(problemLines(report)).toEqual([`C7.1: ${status} (First.)`]);
  },
);

it('one failed test outweighs a passed one; a skipped one does not', () => {
  const of = (status: string) =>
    makeReport(rules, { 'a.test.ts': [passed('[C7.1] [C7.10] x'), { title: '[C7.1] y', status }] }).gaps
      .length;
  expect(of('failed')).toBe(1);
  expect(of('pending')).toBe(0);
});

it('an id that is in no row is named with its file', () => {
  const report = makeReport(rules, { 'a.test.ts': [passed('[C7.1] [C7.10] [C99.1] x')] });
  expect(problemLines(report)).toEqual(['C99.1: no such rule, named by a.test.ts: [C7.1] [C7.10] [C99.1] x']);
});

describe('results of several runs', () => {
  const older = { 'a.test.ts': [passed('one'), passed('two')], 'b.test.ts': [passed('three')] };

  it('a file that ran replaces its part', () => {
    const ran = { 'a.test.ts': [{ title: 'one', status: 'failed' }] };
    expect(mergeResults(older, ran, { full: false, filtered: false })).toEqual({ ...older, ...ran });
  });

  it('a run with a name filter replaces only what it ran', () => {
    const ran = {
      'a.test.ts': [
        { title: 'one', status: 'failed' },
        { title: 'two', status: 'pending' },
      ],
    };
    expect(mergeResults(older, ran, { full: false, filtered: true })).toEqual({
      ...older,
      'a.test.ts': [passed('two'), { title: 'one', status: 'failed' }],
    });
  });

  it('a full run replaces everything', () => {
    const ran = { 'c.test.ts': [passed('four')] };
    expect(mergeResults(older, ran, { full: true, filtered: false })).toEqual(ran);
  });
});

describe('titles that have no result yet', () => {
  const source = [
    "// It isn't a title: an apostrophe opens nothing.",
    "it('[C7.1] the service\\'s own', () => undefined);",
    "it.each(x)('[C7.1] %s is %d', () => undefined); it(`[C7.10] a ${kind} b`, () => undefined);",
    "it('names no rule', () => 'C7.1');",
  ].join('\n');

  it('are read in the source', () => {
    expect(titlesIn(source)).toEqual(["[C7.1] the service's own", '[C7.1] %s is %d', '[C7.10] a ${kind} b']);
  });

  it('count as not run, unless a result is theirs', () => {
    const ran = { 'a.test.ts': [passed('outer [C7.1] one is 2'), passed('[C7.10] a large b')] };
    expect(withNotRun(ran, { 'a.test.ts': source, 'b.test.ts': '' })).toEqual({
      'a.test.ts': [...ran['a.test.ts'], { title: "[C7.1] the service's own", status: 'not run' }],
    });
  });

  it('prove nothing', () => {
    expect(makeReport(rules, withNotRun({}, { 'a.test.ts': source })).gaps).toHaveLength(2);
  });
});

it('a rule is named by its whole id only', () => {
  for (const text of ['C7.1', 'contract C7.1, C8', '(C7.1)', 'see C7.1.'])
    expect([text, namesRule(text, 'C7.1')]).toEqual([text, true]);
  for (const text of ['C7.10', 'C7.1a', 'C7.1.2', 'XC7.1', '7.1'])
    expect([text, namesRule(text, 'C7.1')]).toEqual([text, false]);
});

it('an id that does not exist is near those that begin with it, then those a character away', () => {
  const ids = ['C4.3', 'C4.4a', 'C4.4b', 'C5.4a', 'C7.1'];
  expect(nearIds('C4.4', ids)).toEqual(['C4.4a', 'C4.4b', 'C4.3']);
  expect(nearIds('c5.4', ids)).toEqual(['C5.4a']);
  expect(nearIds('C99', ids)).toEqual([]);
});

describe('docs/contract-rules.md', () => {
  const table = parseRules(readFileSync(path.join(ROOT, 'docs', 'contract-rules.md'), 'utf8'));

  it('has all rules, each once', () => {
    expect(table).toHaveLength(95);
    expect(new Set(table.map(({ id }) => id)).size).toBe(table.length);
    for (const { id, rule } of table)
      expect([id, rule]).toEqual([
        expect.stringMatching(/^C\d+(\.\d+)+[a-c]?$/),
        expect.stringMatching(/\.$/),
      ]);
  });
});
