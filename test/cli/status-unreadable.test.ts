import { type Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { searchHistories } from '../../packages/cli/src/shared/search-histories';

/** What `status` makes of a server that holds what cannot be read here. */
describe('status', () => {
  it('goes on searching behind a history that retention has removed', async () => {
    const listed = ['gone', 'here'].map((workflowId) => ({ workflowId, runId: 'run' }));
    const input = { payloads: [defaultPayloadConverter.toPayload({ video: { taskId: 't1' } })] };
    const client = {
      options: {
        namespace: 'default',
        loadedDataConverter: { payloadConverter: defaultPayloadConverter, payloadCodecs: [] },
      },
      workflowService: {
        // A namespace without our search attributes.
        listWorkflowExecutions: async ({ query }: { query: string }) => {
          if (query.includes('MediaTaskId')) throw new Error('search attribute MediaTaskId is not defined');
          return { executions: listed.map((execution) => ({ execution })) };
        },
        getWorkflowExecutionHistory: ({ execution }: { execution: { workflowId: string } }) =>
          execution.workflowId === 'gone'
            ? Promise.reject(Object.assign(new Error('not found'), { code: 5 }))
            : Promise.resolve({
                history: { events: [{ workflowExecutionStartedEventAttributes: { input } }] },
              }),
      },
    } as unknown as Client;
    expect(await searchHistories(client, 't1')).toMatchObject({ found: listed[1], searched: 2, unread: 0 });
  });
});
