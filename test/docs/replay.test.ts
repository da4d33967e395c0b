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

const FAULTS = `const service: SandboxOptions = {
  timing: { queuedMs: 1, runningMs: 0 },
  records: 'minimal',
  faults: [
    { operation: 'create', action: { type: 'lose_reply', accepted: true, how: 'reset' } },
    { operation: 'poll', action: { type: 'record', patch: { status: 'queued' } } },
    { operation: 'poll', action: { type: 'status', status: 503 } },
    { operation: 'content', times: 0, action: { type: 'expired' } },
  ],
};`;

describe('docs/replay.md', () => {
  it('shows what the command prints about the incident', async () => {
    const run = await readHistoryFile(join(ROOT, 'test', 'fixtures', 'replay', 'lost-reply.json'));
    const printed = timelineText(buildTimeline({ target: run.workflowId, runs: [run] }), { utc: true });
    const [, shown] = /```text\n\$ temporal-media replay film-7 --utc\n\n([\s\S]*?)\n```/.exec(page) ?? [];
    expect(shown).toBe(printed);
  });

  it('tells of a test that has the faults of the incident', async () => {
    const run = await readHistoryFile(join(ROOT, 'test', 'fixtures', 'replay', 'lost-reply.json'));
    const original = buildTimeline({ target: run.workflowId, runs: [run] });
    const request = { ...localRequest(original, 'generateVideo'), workflow: 'generateVideo' as const };
    const written = testOf({ original, scenario: scenarioOf(original, 10), request, language: 'ts' });
    expect(page).toContain('`--save-test` writes the scenario as a jest test');
    // A formatter adds commas.
    expect(written).toContain(FAULTS.replaceAll(/,(?=\n *[\]}])/g, ''));
  });

  it('names what the time is spent on, in its order', () => {
    expect(listed('`on`')).toEqual(Object.keys(SPENT));
  });

  it('names the kinds of entries', () => {
    expect(listed('`kind`')).toEqual(Object.keys(ENTRY_KINDS));
  });
});
