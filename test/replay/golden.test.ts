import { join } from 'node:path';
import '../support/quiet-temporal';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { historyFromJson } from '../../packages/replay/src/history-codec';
import { readHistoryFile } from '../../packages/replay/src/read-history';
import { replayHistories } from '../../packages/replay/src/replay-histories';
import { type Verdict } from '../../packages/replay/src/verdict';
import { shippedForm } from '../../scripts/workflow-bundle';
import { goldenFiles, goldenHistory, type GoldenHistory } from './golden-histories';

const WORKFLOWS = join(__dirname, '..', '..', 'scripts', 'golden', 'execute-video.js');
const GOLDEN = join(__dirname, '..', 'golden');
const MUTATED = join(__dirname, 'mutated-workflows.ts');

/** Histories that were recorded once stay valid: today's compiled code takes the same commands in the same order. */
describe('golden histories replay against the compiled workflows', () => {
  const histories = goldenFiles().map(goldenHistory);
  let broken: Map<string, string>;

  beforeAll(async () => {
    broken = await replay(WORKFLOWS, histories);
  });

  it('there is something to replay', () => {
    expect(histories.length).toBeGreaterThan(60);
  });

  it.each(histories.map(({ file }) => file))('%s', (file) => {
    expect(broken.get(file)).toBeUndefined();
  });

  it('a workflow with one more timer is found out, with the event, the command and its line', async () => {
    const bundle = await bundleWorkflowCode({ workflowsPath: MUTATED, logger: new DefaultLogger('ERROR') });
    const chosen = goldenFiles().filter((file) => file.startsWith('generateVideo.completed'));
    async function* runs() {
      for (const file of chosen) yield readHistoryFile(join(GOLDEN, file));
    }
    const found = new Map<string, Verdict>();
    for await (const { run, verdict } of replayHistories({ bundle }, runs())) found.set(run.source, verdict);
    expect([...found.keys()]).toEqual(chosen);
    expect(new Set([...found.values()].map(({ verdict }) => verdict))).toEqual(new Set(['diverges']));
    expect(found.get('generateVideo.completed.v1.json')).toMatchObject({
      divergence: {
        event: { eventId: 5, eventType: 'ActivityTaskScheduled', summary: 'create' },
        produced: { kind: 'timer', ms: 1000 },
        at: [{ file: MUTATED, line: 10, in: 'generateVideo' }],
      },
    });
  });
});

/** @returns file → why its history does not replay against the code at this path, in the form in which it is shipped */
async function replay(
  workflowsPath: string,
  histories: readonly GoldenHistory[],
): Promise<Map<string, string>> {
  const whole = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const workflowBundle = { code: await shippedForm(whole.code) };
  const broken = new Map<string, string>();
  for (const round of roundsOf(histories)) {
    const queue = [...round].map(([workflowId, { json }]) => ({
      workflowId,
      history: historyFromJson(json),
    }));
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, queue))
      if (error !== undefined) broken.set((round.get(workflowId) as GoldenHistory).file, String(error));
  }
  return broken;
}

/**
 * Results are told apart by the id, of which the runs of one workflow have the same: the file stands for it, but where
 * the id is part of commands, as in those of a campaign to its batches. The runs of these are in a round each.
 */
function roundsOf(histories: readonly GoldenHistory[]): Map<string, GoldenHistory>[] {
  const rounds: Map<string, GoldenHistory>[] = [];
  for (const history of histories) {
    const id = namesItself(history) ? history.workflowId : history.file;
    const free = rounds.find((round) => !round.has(id)) ?? new Map<string, GoldenHistory>();
    if (free.size === 0) rounds.push(free);
    free.set(id, history);
  }
  return rounds;
}

const namesItself = ({ workflowType }: GoldenHistory) => /^(runCampaign|campaignBatch)$/.test(workflowType);
