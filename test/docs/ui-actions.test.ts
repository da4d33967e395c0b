import { readFileSync } from 'node:fs';
import path from 'node:path';
import shown from './ui-actions.json';

const ROOT = path.resolve(__dirname, '..', '..');
const page = readFileSync(path.join(ROOT, 'docs', 'operations.md'), 'utf8');
const section = /\n## Actions of the Temporal UI\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
const rows = section
  .split('\n')
  .filter((line) => /^\| (?!Action|-)/.test(line))
  .map((line) => {
    const [action = '', on = '', effect = '', afterwards = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { action, on, effect, afterwards };
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

  it('names for every row an effect and what to do afterwards', () => {
    expect(rows.length).toBeGreaterThan(25);
    for (const row of rows) expect(Object.values(row)).not.toContain('');
  });

  it('has a test for every row, in its order', () => {
    expect(shown.map(({ action, on }) => ({ action, on }))).toEqual(
      rows.map(({ action, on }) => ({ action, on })),
    );
    for (const { action, on, tests } of shown) {
      expect([action, on, tests.length > 0]).toEqual([action, on, true]);
      for (const { file, title } of tests) {
        const isThere = readFileSync(path.join(ROOT, file), 'utf8').includes(title);
        expect([action, on, file, title, isThere]).toEqual([action, on, file, title, true]);
      }
    }
  });
});
