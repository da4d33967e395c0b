import { readFileSync } from 'node:fs';
import path from 'node:path';

const DOCS = path.resolve(__dirname, '..', '..', 'docs');
const page = readFileSync(path.join(DOCS, 'operations.md'), 'utf8');
const section = /\n## Actions of the Temporal UI\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
/** Files and titles of tests, by the names that links have. */
const shown = new Map(
  [...section.matchAll(/^\[(ui-\d+)\]: (\S+) (["'])(.*)\3$/gm)].map(
    ([, name = '', file = '', , title = '']) => [name, { file, title }] as const,
  ),
);
const rows = section
  .split('\n')
  .filter((line) => /^\| (?!Action|-)/.test(line))
  .map((line) => {
    const [action = '', on = '', effect = '', afterwards = '', shownBy = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const tests = [...shownBy.matchAll(/\[[^\]]+\]\[(ui-\d+)\]/g)].map(([, name = '']) => shown.get(name));
    return { action, on, effect, afterwards, tests };
  });

const ACTIONS = {
  video: ['Cancel', 'Terminate', 'Reset', 'Pause', 'Delete', 'Signal', 'Update', 'Versioning override'],
  image: ['Cancel', 'Terminate', 'Reset', 'Pause', 'Delete', 'Signal'],
  campaign: [
    ...['Cancel', 'Terminate', 'Reset', 'Pause', 'Delete', 'Signal', 'Update', 'Versioning override'],
    ...['Trigger a Schedule', 'Backfill a Schedule', 'Pause a Schedule'],
  ],
  create: ['Pause, Unpause an activity', 'Reset an activity', 'Update options of an activity'],
  'image call': ['Pause, Unpause an activity', 'Reset an activity', 'Update options of an activity'],
  download: ['Pause, Reset an activity', 'Update options of an activity'],
};

describe('docs/operations.md: actions of the Temporal UI', () => {
  it.each(Object.entries(ACTIONS))('has every action on: %s', (on, actions) => {
    const of = rows.filter((row) => row.on.split(', ').includes(on)).map(({ action }) => action);
    expect(actions.filter((action) => !of.some((one) => one.startsWith(action)))).toEqual([]);
  });

  it('names for every row an effect, what to do afterwards, and tests by their titles', () => {
    expect(rows.length).toBeGreaterThan(25);
    for (const { action, on, effect, afterwards, tests } of rows) {
      expect([action, on, effect, afterwards]).not.toContain('');
      expect([action, on, tests.length > 0]).toEqual([action, on, true]);
      for (const test of tests) {
        const source = path.join(DOCS, test?.file ?? '');
        const isThere = test !== undefined && readFileSync(source, 'utf8').includes(test.title);
        expect([action, on, test, isThere]).toEqual([action, on, test, true]);
      }
    }
  });
});
