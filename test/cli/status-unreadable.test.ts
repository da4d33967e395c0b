import { type Client } from '@temporalio/client';
import { defaultPayloadConverter, ValueError } from '@temporalio/common';
import { type Connected } from '../../src/cli/connect';
import { searchHistories } from '../../src/cli/status/search-histories';
import { videoStatus } from '../../src/cli/status/video-status';
import { readConfig } from '../../src/config';
import { WORKFLOW } from '../../src/domain/names';

/** What `status` makes of a server that holds what cannot be read here. */
describe('status', () => {
  it('tells of a workflow whose outcome a codec has encoded', async () => {
    const description = {
      runId: 'run',
      type: WORKFLOW.generateVideo,
      status: { name: 'COMPLETED' },
      taskQueue: 'q',
      startTime: new Date(0),
      historyLength: 9,
      raw: {},
    };
    const handle = {
      describe: () => Promise.resolve(description),
      result: () => Promise.reject(new ValueError('Unknown encoding: binary/encrypted')),
    };
    const connected = {
      client: { workflow: { getHandle: () => handle } },
      hasWorker: () => Promise.resolve(false),
      workflowUrl: () => undefined,
    } as unknown as Connected;
    const found = await videoStatus(connected, readConfig({}), 'sku-1');
    expect(found).toMatchObject({ foundBy: 'workflow_id', outcome: null });
    expect(found?.notes.join()).toContain('codec');
  });

  it('goes on searching behind a history that retention has removed', async () => {
    const listed = ['gone', 'here'].map((workflowId) => ({ workflowId, runId: 'run' }));
    const input = { payloads: [defaultPayloadConverter.toPayload({ video: { taskId: 't1' } })] };
    const client = {
      options: { namespace: 'default' },
      workflow: { list: () => listed },
      workflowService: {
        getWorkflowExecutionHistory: ({ execution }: { execution: { workflowId: string } }) =>
          execution.workflowId === 'gone'
            ? Promise.reject(Object.assign(new Error('not found'), { code: 5 }))
            : Promise.resolve({
                history: { events: [{ workflowExecutionStartedEventAttributes: { input } }] },
              }),
      },
    } as unknown as Client;
    expect(await searchHistories(client, 't1')).toEqual({ found: listed[1], searched: 2 });
  });
});
