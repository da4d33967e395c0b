import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DEFAULT_TASK_QUEUE, WORKFLOW } from '../../src/domain';
import { activityQueues, SIGNAL } from '../../src/domain/names';
import { WORKFLOW_MESSAGES } from '../cli/schemas/messages';
import { MESSAGE_TABLES, tableOf } from './message-tables';

const ROOT = path.resolve(__dirname, '..', '..');
const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');
const page = read('docs', 'other-languages.md');

describe('docs/other-languages.md', () => {
  test.each(Object.entries(MESSAGE_TABLES))(
    '%s: the names of the code with their schemas',
    (heading, rows) => {
      expect(tableOf(page, heading)).toEqual(rows);
    },
  );

  test('names every queue, the signals and the workflows that are not for callers', () => {
    const internal = Object.values(WORKFLOW).filter((name) => !Object.hasOwn(WORKFLOW_MESSAGES, name));
    const names = [
      DEFAULT_TASK_QUEUE,
      ...Object.values(activityQueues(DEFAULT_TASK_QUEUE)),
      ...Object.values(SIGNAL),
      ...internal,
    ];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test('names every program of examples/python and examples/go', () => {
    for (const language of ['python', 'go'])
      for (const name of readdirSync(path.join(ROOT, 'examples', language)))
        if (/\.(?:py|go)$/.test(name)) expect(page).toContain(`(../examples/${language}/${name})`);
  });
});
