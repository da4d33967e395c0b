import '../support/quiet-temporal';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { historyFromJson } from '../../packages/replay/src/history-codec';
import { type MediaPlugin as MediaPluginType } from '../../src/plugin';
import { goldenFiles, goldenHistory } from '../replay/golden-histories';

/** As published: what is replayed is the compiled code. */
const { MediaPlugin } = jest.requireActual<{ MediaPlugin: typeof MediaPluginType }>(
  join(__dirname, '..', '..', 'lib', 'plugin.js'),
);
const WORKFLOWS = require.resolve('./users/golden-workflows.js');

describe('a replay with the plugin', () => {
  const media = new MediaPlugin();
  // Batches and campaigns name themselves in commands: test/replay/golden.test.ts.
  const histories = goldenFiles()
    .map(goldenHistory)
    .filter(({ workflowType }) => !/^(runCampaign|campaignBatch)$/.test(workflowType));

  async function broken(options: ReplayWorkerOptions): Promise<readonly string[]> {
    const queue = histories.map(({ file, json }) => ({ workflowId: file, history: historyFromJson(json) }));
    const found: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories(options, queue))
      if (error !== undefined) found.push(`${workflowId}: ${String(error)}`);
    return found;
  }

  it("golden histories of ours and of the user's callers replay, bundled then", async () => {
    expect(new Set(histories.map(({ workflowType }) => workflowType))).toContain('buyFilm');
    expect(await broken({ workflowsPath: WORKFLOWS, plugins: [media] })).toEqual([]);
  });

  it('and with a bundle that was made beforehand', async () => {
    const logger = new DefaultLogger('ERROR');
    const { code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, plugins: [media], logger });
    expect(await broken({ workflowBundle: { code }, plugins: [media] })).toEqual([]);
  });
});
