import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readSources, ROOT } from '../support/sources';
import known from './english.json';

/** What reads as translated, and what to write instead. */
const PATTERNS: Readonly<Record<keyof typeof known, RegExp>> = {
  'is no X: "is not a X"': /\b(?:is|are|was|were) no (?!longer|more|one|doubt)\w+/g,
  'goes on: "continues", "keeps running"': /\b(?:go|goes|going|went) on\b/g,
  'told, tells: "shows", "reports", "returns"': /\b(?:told|tells)\b/g,
  'of its own: "its own X"': /\bof (?:its|one's|their|your|our|his|her) own\b/g,
  'by itself: "automatically", or who does it': /\bby (?:itself|themselves)\b/g,
  'mend: "fix"': /\bmend(?:s|ed|ing)?\b/g,
  'somebody, whoever: name who it is': /\b(?:somebody|whoever)\b/gi,
  'for good, for ever: "permanently", "indefinitely"': /\bfor (?:good|ever)\b/g,
  'is over: "has ended", "has expired"': /\b(?:is|are|was) over\b(?! \d)/g,
  'comes back: "is returned"': /\b(?:come|comes|came) back\b/g,
};

const pages = [
  '.',
  'docs',
  ...readdirSync(path.join(ROOT, 'packages')).map((name) => `packages/${name}`),
].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder))
    // What a release said stays as it was said.
    .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
    .map((name) => readFileSync(path.join(ROOT, folder, name), 'utf8')),
);

const count = (texts: readonly string[], pattern: RegExp): number =>
  texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);

describe('how pages, comments and messages sound', () => {
  const code = readSources().map(({ text }) => text);

  // The numbers of english.json may only fall: where there are fewer, it is the list that changes.
  it.each(Object.entries(PATTERNS))('%s', (name, pattern) => {
    const found = { pages: count(pages, pattern), code: count(code, pattern) };
    expect(found).toEqual(known[name as keyof typeof known]);
  });

  it('the pages have no more words than a reader has time for', () => {
    const words = pages.reduce((sum, text) => sum + text.split(/\s+/).filter(Boolean).length, 0);
    expect(words).toBeLessThanOrEqual(41_500);
  });
});
