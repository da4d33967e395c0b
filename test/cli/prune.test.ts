import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pruneCreateJournal } from '../../packages/cli/src/journal/prune';
import { type Connected } from '../../packages/cli/src/shared/connect';
import { type CommandContext } from '../../packages/cli/src/shared/context';
import { type MediaConfig } from '../../src/settings/config';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { answers } from '../domain/create-answers';
import { answerEntry, intentEntry, LOG_KEY, lostEntry } from '../support/log-entries';

const DAY = 24 * 60 * 60_000;
const OLD = new Date(Date.now() - 100 * DAY).toISOString();

/** Which keys somebody can still ask for: a workflow that has ended can be reset as long as the server has it. */
describe('journal prune', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-prune-command-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** The reply of a server that keeps histories for a day and has the workflow `known`. */
  async function pruned(
    sent: { workflowId: string; namespace: string; ancestors?: readonly string[] },
    isLost = false,
  ): Promise<unknown> {
    const journal = createFileJournal({ root });
    await journal.identity();
    const entry = isLost ? lostEntry({ ...sent, at: OLD }) : intentEntry({ ...sent, at: OLD });
    await journal.append(LOG_KEY, 0, entry);
    await journal.append(LOG_KEY, 1, answerEntry(answers.created(0), { at: OLD }));
    const client = {
      options: { namespace: 'default' },
      workflowService: {
        describeNamespace: async () => ({ config: { workflowExecutionRetentionTtl: { seconds: 86_400 } } }),
        describeWorkflowExecution: async ({ execution }: { execution: { workflowId: string } }) => {
          if (execution.workflowId !== 'known') throw Object.assign(new Error('not found'), { code: 5 });
          return {};
        },
      },
    };
    const replies: unknown[] = [];
    const report = { say: () => undefined, reply: (reply: unknown) => replies.push(reply) };
    await pruneCreateJournal(
      { report } as unknown as CommandContext,
      { client, namespace: 'default' } as unknown as Connected,
      { journal: root } as MediaConfig,
      90 * DAY,
      false,
    );
    return replies[0];
  }

  it.each([
    [
      '[C4.4a] keeps the key of a workflow that has ended but that the server still has',
      'known',
      'default',
      0,
    ],
    ['removes the key of one that the server has forgotten', 'forgotten', 'default', 1],
    ['[C4.4a] keeps the key of another namespace', 'forgotten', 'elsewhere', 0],
  ])('%s', async (_, workflowId, namespace, removed) => {
    expect(await pruned({ workflowId, namespace })).toMatchObject({
      ok: true,
      data: { keys: 1, removed, keptRunning: 1 - removed },
    });
  });

  it('[C4.4a] keeps a key for the workflows above the one that sent, and for a send that this journal did not see', async () => {
    const forgotten = { workflowId: 'forgotten', namespace: 'default' };
    expect(await pruned({ ...forgotten, ancestors: ['parent', 'known'] })).toMatchObject({
      data: { keys: 1, keptRunning: 1 },
    });
    await rm(root, { recursive: true, force: true });
    expect(await pruned({ ...forgotten, workflowId: 'known' }, true)).toMatchObject({
      data: { keys: 1, keptRunning: 1 },
    });
  });
});
