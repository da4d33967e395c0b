import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { PAGE_ROWS } from '../../src/domain/campaign/plan';
import { readSources, ROOT } from '../support/sources';

/** Words that no identifier may contain: what to write instead, and the names that are API and stay. */
const BANNED: Readonly<Record<string, readonly [instead: string, ...api: readonly string[]]>> = {
  ledger: ['queue binding, attempts', 'ledger', 'LedgerLine'],
  told: ['answered, reported, shown', 'told', 'untold'],
  tell: ['answer, report, log', 'tellVideos', 'TellVideosInput', 'createTellVideos', 'tellMs'],
  telling: ['answering, reporting'],
  stands: ['binding, decision', 'stands'],
  look: ['read, check, view', 'look', 'look_up', 'lookUp', 'readLookUp', 'checkLookUp'],
  looked: ['read, found', 'looked', 'executionsLookedAt', 'isLookedUp'],
  heard: ['acknowledged'],
  unheard: ['unannounced, undelivered'],
  patience: ['limit, wait', 'patienceMs'],
  patient: ['what it waits for'],
  asker: ['caller'],
  twice: ['what happens to the second one'],
  feed: ['write, add'],
};

/** What comments and messages may not say. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/ledgers? (?:of|for) (?:a|an|the|its|all|this) (?:task )?queue|queue's ledger/i, 'queue binding'],
  [/the ledger (?:holds|says|is asked|cannot be read|of the task)/i, 'the queue binding contains, shows'],
];

const sources = readSources();
const code = [...sources.map(({ text }) => text), ...readdirSync(path.join(ROOT, 'scripts'))].join('\n');
const page = readFileSync(path.join(ROOT, 'docs', 'glossary.md'), 'utf8');
const entries = [...page.matchAll(/^- \*\*`?([^*`]+)`?\*\*: (.*)$/gm)].map((found) => found.slice(1, 3));

const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z\d]+/);

/** Files by identifier. */
const identifiers = new Map<string, string>();
for (const { path: file, text } of sources) {
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
      identifiers.set(node.text.replace('#', ''), file);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
}

describe('docs/glossary.md and the words of the code', () => {
  it.each(Object.entries(BANNED))('no identifier contains "%s"', (word, [instead, ...api]) => {
    const found = [...identifiers].filter(([name]) => wordsOf(name).includes(word) && !api.includes(name));
    expect(found.map(([name, file]) => `${file}: ${name}; write: ${instead}`)).toEqual([]);
    expect(api.filter((name) => !identifiers.has(name) && !code.includes(name))).toEqual([]);
  });

  it.each(PHRASES)('no comment or message says %s', (pattern, instead) => {
    const found = sources.filter(({ text }) => pattern.test(text.replaceAll(/\s*\n\s*(?:\*|\/\/) /g, ' ')));
    expect(found.map(({ path: file }) => `${file}: write: ${instead}`)).toEqual([]);
  });

  it('defines words that are used', () => {
    expect(entries.length).toBeGreaterThan(50);
    const isUsed = (word = '') => new RegExp(word.replaceAll(' ', '[ _-]?'), 'i').test(code);
    expect(entries.filter(([word]) => !isUsed(word))).toEqual([]);
  });

  it('names fields, types and numbers of the code', () => {
    const names = [...page.matchAll(/`([A-Za-z]\w+)`/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !code.includes(name))).toEqual([]);
    expect(page).toContain(`- **page**: up to ${PAGE_ROWS} rows of a plan`);
  });
});
