import {
  completedVideo,
  failedVideo,
  mockMediaActivities,
  type MockMediaOptions,
  type RunningTemporalServer,
  startTemporalServer,
} from '@temporal-media/testing';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { productFilm } from '../plugin/workflows';

describe('productFilm', () => {
  let server: RunningTemporalServer;
  let connection: NativeConnection;
  let workflowBundle: { readonly code: string };
  beforeAll(async () => {
    server = await startTemporalServer();
    connection = await NativeConnection.connect({ ...server.connection, address: server.address });
    workflowBundle = await bundleWorkflowCode({ workflowsPath: require.resolve('./test-workflows') });
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  /** Runs the workflow once with the given video outcomes. */
  async function run(video: NonNullable<MockMediaOptions['video']>): Promise<string> {
    const { namespace } = server;
    const taskQueue = `films-${Math.random()}`;
    const publish = async ({ uri }: { uri: string }) => `published ${uri}`;
    const worker = await Worker.create({
      ...{ connection, namespace, taskQueue, workflowBundle },
      activities: { ...mockMediaActivities({ video }), publish },
    });
    const { workflow } = new Client({ connection, namespace });
    const options = { taskQueue, workflowId: taskQueue, args: ['a teapot'] as [string] };
    return worker.runUntil(workflow.execute(productFilm, options));
  }

  test('publishes a completed film', async () => {
    const film = completedVideo();
    expect(await run(film)).toBe(`published ${film.artifact.uri}`);
  });

  test('fails with the reason and buys only once', async () => {
    const video = jest.fn(() => failedVideo({ error: { kind: 'moderation' } }));
    // `orThrow` failed the workflow with the outcome.
    await expect(run(video)).rejects.toMatchObject({ cause: { type: 'failed' } });
    expect(video).toHaveBeenCalledTimes(1);
    expect(video).toHaveBeenCalledWith(
      expect.objectContaining({ request: { model: 'cine-1', prompt: 'a teapot', durationSeconds: 2 } }),
    );
  });
});
