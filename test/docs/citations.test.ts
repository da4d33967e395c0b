import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** Everything that people write, but what a test or a tool has recorded. */
const FILES = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|js|md)$/.test(file) && existsSync(path.join(ROOT, file)))
  .filter((file) => !file.startsWith('test/golden') && file !== 'test/docs/citations.test.ts');

interface Citation {
  readonly file: string;
  /** What follows the name of the page that is cited. */
  readonly rest: string;
}

function citationsOf(pattern: RegExp): Citation[] {
  return FILES.flatMap((file) =>
    [...read(file).matchAll(pattern)].map(({ input, index, 0: text }) => ({
      file,
      rest: input.slice(index + text.length, index + text.length + 60).replace(/\s*\n\s*(\*|\/\/) /g, ' '),
    })),
  );
}

const headingsOf = (page: string): string[] =>
  [...read(page).matchAll(/^##+ (.*)$/gm)].map(([, heading]) => heading as string);

/** Numbers in the first column of the tables of a page. */
const rowsOf = (page: string): ReadonlySet<string> =>
  new Set([...read(page).matchAll(/^\| (\d+) +\|/gm)].map(([, row]) => row as string));

const told = (found: readonly Citation[]) => found.map(({ file, rest }) => `${file}: ${rest}`);

describe('what comments, tests and pages cite is there', () => {
  test.each([
    ['architecture', 'docs/architecture.md'],
    ['failure model', 'docs/failure-model.md'],
  ])('%s: a heading, or rows, of %s', (name, page) => {
    const [headings, rows] = [headingsOf(page), rowsOf(page)];
    const isThere = ({ rest }: Citation) => {
      const numbers = /^rows? (\d+(?:(?:, | and | to )\d+)*)/.exec(rest)?.[1];
      if (numbers !== undefined) return numbers.split(/, | and | to /).every((row) => rows.has(row));
      return headings.some((heading) => rest.startsWith(heading) && !/^\w/.test(rest.slice(heading.length)));
    };
    const citations = citationsOf(new RegExp(`\\b${name}: (?=[A-Z][a-z]|row)`, 'g'));
    expect(citations.length).toBeGreaterThan(20);
    expect(told(citations.filter((citation) => !isThere(citation)))).toEqual([]);
  });

  test('decisions, by their numbers', () => {
    const numbers = new Set(
      readdirSync(path.join(ROOT, 'docs', 'adr')).map((name) => Number(name.slice(0, 4))),
    );
    const citations = citationsOf(/\bADRs? (?=\d)|\badr\/(?=\d)/g);
    expect(citations.length).toBeGreaterThan(20);
    expect(told(citations.filter(({ rest }) => !numbers.has(parseInt(rest, 10))))).toEqual([]);
  });

  test('sections and rules of the contract', () => {
    const table = [...read('docs/contract-rules.md').matchAll(/^\| (C[\w.]+) +\|.*\| ([^|]+?) +\|$/gm)];
    const rules = table.map(([, rule]) => rule as string);
    const sections = table.flatMap(([, , column]) =>
      (column as string).replaceAll(' rule ', '.').split(', '),
    );
    const isThere = (known: readonly string[], cited: string | undefined, more: RegExp) =>
      known.some(
        (one) => one === cited || (one.startsWith(cited ?? ' ') && more.test(one.slice(cited?.length))),
      );
    const ofSections = citationsOf(/\(contract (?=\d)/g);
    const isSection = ({ rest }: Citation) => isThere(sections, /^\d+(\.\d+)?/.exec(rest)?.[0], /^\./);
    expect(ofSections.length).toBeGreaterThan(20);
    expect(told(ofSections.filter((citation) => !isSection(citation)))).toEqual([]);
    // Tests of the report on rules name some that are none.
    const ofRules = citationsOf(/(?<=[[( ])(?=C\d+\.\d)/g).filter(
      ({ file }) => !file.startsWith('test/rules'),
    );
    const isRule = ({ rest }: Citation) => isThere(rules, /^C\d+(\.\d+)+[a-z]?/.exec(rest)?.[0], /^[a-z]$/);
    expect(ofRules.length).toBeGreaterThan(200);
    expect(told(ofRules.filter((citation) => !isRule(citation)))).toEqual([]);
  });

  test('pages', () => {
    const citations = citationsOf(/(?<![\w./-])(?=docs\/[\w/-]+\.md)/g);
    const isThere = ({ rest }: Citation) =>
      existsSync(path.join(ROOT, /^[\w/.-]+\.md/.exec(rest)?.[0] ?? ''));
    expect(citations.length).toBeGreaterThan(10);
    expect(told(citations.filter((citation) => !isThere(citation)))).toEqual([]);
  });

  test('nothing that is not in the tree', () => {
    expect(
      told(
        citationsOf(
          /\b(?:design \d|failure-model (?:rows? )?\d|wire-facts|issue #?\d|field[- ]notes|house[- ](?:plan|style))/g,
        ),
      ),
    ).toEqual([]);
  });
});
