import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseRules } from '../../scripts/rules-report';

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly test: string;
  readonly rule: string;
}

const ROOT = path.resolve(__dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const mutants = JSON.parse(read('scripts/mutants.json')) as readonly Mutant[];
const rules = new Set(parseRules(read('docs/contract-rules.md')).map(({ id }) => id));

// That each one is killed is shown by `npm run mutants`; here only that the table still fits the source.
describe('the table of mutants', () => {
  it('has at least 25, each under a name of its own', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(25);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))('%s applies exactly once', (_, mutant) => {
    const { file, find, replace, test, rule } = mutant;
    expect(file).toMatch(/^(?:src|packages\/[a-z0-9-]+\/src)\//);
    expect(read(file).split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    expect(rules.has(rule)).toBe(true);
    expect(existsSync(path.join(ROOT, test))).toBe(true);
    expect(read(test)).toContain(`[${rule}]`);
  });
});
