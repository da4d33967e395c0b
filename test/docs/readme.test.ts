import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { MEDIA_VARIABLES } from '../../packages/cli/src/config/variables';
import { accountsSchema } from '../../src/settings/accounts';
import { readModelConfiguration } from '../../src/settings/model-schema';

const ROOT = path.resolve(__dirname, '..', '..');
const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');
const configuration = read('docs', 'configuration.md');

describe('README.md and the pages that it names', () => {
  test('the README is a page that is read in one go', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(201);
  });

  test('it names a handful of pages, and docs/README.md every one', () => {
    const [, more = ''] = /## More\n([^]*)$/.exec(read('README.md')) ?? [];
    expect(more.match(/\]\(/g)?.length).toBeLessThanOrEqual(8);
    const pages = readdirSync(path.join(ROOT, 'docs')).filter((name) => /^(?!README).*\.md$/.test(name));
    const index = read('docs', 'README.md');
    expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });

  test('the model configuration of docs/configuration.md is one', () => {
    const [, text = ''] = /```json\n([\s\S]*?)```/.exec(configuration) ?? [];
    expect(readModelConfiguration(JSON.parse(text))).toMatchObject({ ok: true });
  });

  test('the accounts of docs/configuration.md are valid', () => {
    const [, text = ''] = /## Several accounts[^]*?```json\n([^]*?)```/.exec(configuration) ?? [];
    expect(accountsSchema.safeParse(JSON.parse(text))).toMatchObject({ success: true });
  });

  test('docs/configuration.md names every variable', () => {
    const unnamed = MEDIA_VARIABLES.filter(({ name }) => !configuration.includes(`\`${name}\``));
    expect(unnamed).toEqual([]);
  });

  test('docs/measured.md shows the results of the benchmarks as they are', () => {
    const { status, stderr } = spawnSync(process.execPath, [
      path.join(ROOT, 'scripts/write-figures.js'),
      '--check',
    ]);
    expect([status, stderr.toString()]).toEqual([0, '']);
  });

  test('docs/scale.md says what the results of the benchmarks come to', () => {
    const { status, stderr } = spawnSync(process.execPath, [
      path.join(ROOT, 'scripts/write-scale.js'),
      '--check',
    ]);
    expect([status, stderr.toString()]).toEqual([0, '']);
  });

  test.each([
    'README.md',
    'docs/measured.md',
    'docs/operations.md',
    'docs/your-activities.md',
    'docs/other-languages.md',
    'docs/testing-your-workflows.md',
    'docs/scale.md',
    'docs/campaigns.md',
    'docs/campaigns-from-code.md',
    'docs/on-call.md',
    'docs/figures.md',
    'docs/architecture.md',
    'docs/failure-model.md',
    'docs/glossary.md',
    'docs/configuration.md',
    'docs/created-once.md',
    'docs/command-line.md',
    'docs/systems.md',
    'docs/README.md',
  ])('the files that %s links to are there', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link as string);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((link) => !existsSync(path.join(ROOT, path.dirname(page), link)))).toEqual([]);
  });
});
