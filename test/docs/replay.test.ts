import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { localRequest } from '../../packages/cli/src/whatif/local-request';
import { scenarioOf } from '../../packages/cli/src/whatif/scenario';
import { testOf } from '../../packages/cli/src/whatif/written-test';
import { readHistoryFile } from '../../packages/replay/src/read-history';
import { buildTimeline } from '../../packages/replay/src/timeline/build-timeline';
import { ENTRY_KINDS, SPENT } from '../../packages/replay/src/timeline/timeline';
import { timelineText } from '../../packages/replay/src/timeline/timeline-text';

const ROOT = join(__dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'replay.md'), 'utf8');

/** The names in code of the sentence that begins like this, up to its end. */
const listed = (start: string): string[] => {
  const [, list = ''] = new RegExp(`${start} is one of ([^.]*)\\.`).exec(page) ?? [];
  return [...list.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
};

describe('docs/replay.md', () => {
  it('shows what the command prints about the incident', async () => {
    const run = await readHistoryFile(join(ROOT, 'test', 'fixtures', 'replay', 'lost-reply.json'));
    const printed = timelineText(buildTimeline({ target: run.workflowId, runs: [run] }), { utc: true });
    const [, shown] = /```text\n\$ temporal-media replay film-7 --utc\n\n([\s\S]*?)\n```/.exec(page) ?? [];
    expect(shown).toBe(printed);
  });

  it('shows the faults of the incident as they stand in the test that is written of it', async () => {
    const run = await readHistoryFile(join(ROOT, 'test', 'fixtures', 'replay', 'lost-reply.json'));
    const original = buildTimeline({ target: run.workflowId, runs: [run] });
    const request = { ...localRequest(original, 'generateVideo'), workflow: 'generateVideo' as const };
    const written = testOf({ original, scenario: scenarioOf(original, 10), request, language: 'ts' });
    const [, shown = 'nothing'] = /```ts\n(const service[\s\S]*?)\n```/.exec(page) ?? [];
    // The formatter of the page adds commas.
    expect(written).toContain(shown.replaceAll(/,(?=\n *[\]}])/g, ''));
  });

  it('names what the time is spent on, in its order', () => {
    expect(listed('`on`')).toEqual(Object.keys(SPENT));
  });

  it('names the kinds of entries', () => {
    expect(listed('`kind`')).toEqual(Object.keys(ENTRY_KINDS));
  });
});
