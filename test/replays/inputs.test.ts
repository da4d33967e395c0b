import path from 'node:path';
import '../support/quiet-temporal';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { runCli, runJson } from '../cli/support/run-cli';
import { type MediaStack, startMediaStack } from '../support/media-stack';

const USERS = path.join(__dirname, 'users');

/** Two paid calls of one type change places: every command is the same, and what is bought is not. */
describe('replay of paid calls with other inputs', () => {
  let stack: MediaStack;
  let id: string;

  beforeAll(async () => {
    stack = await startMediaStack();
    await stack.startWorker();
    const { server } = stack;
    id = server.uniqueId('pair');
    const worker = await Worker.create({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue: id,
      workflowBundle: await bundleWorkflowCode({
        workflowsPath: path.join(USERS, 'posters.ts'),
        logger: new DefaultLogger('ERROR'),
      }),
    });
    const bought: unknown = await worker.runUntil(
      server.client.workflow.execute('pairOfPosters', {
        taskQueue: id,
        workflowId: id,
        args: [stack.taskQueue],
      }),
    );
    expect(bought).toEqual(['completed', 'completed']);
  });
  afterAll(() => stack.stop());

  const replay = (code: string, ...args: string[]) =>
    runJson(['replay', id, '--workflows-path', path.join(USERS, code), ...args], stack.env);
  const verdictOf = ({ reply }: Awaited<ReturnType<typeof replay>>): unknown =>
    (reply.data?.['targets'] as readonly { readonly runs: readonly { readonly verdict: unknown }[] }[])[0]
      ?.runs[0]?.verdict;

  it('the code that bought them replays as identical, strictly too', async () => {
    const run = await replay('posters.ts', '--strict-inputs');
    expect([run.code, verdictOf(run)]).toMatchObject([0, { verdict: 'identical' }]);
  });

  it('a swapped pair names both events, the fields and the lines: a warning, and a failure where that is asked', async () => {
    const swapped = await replay('posters-swapped.ts');
    const file = path.join(USERS, 'posters-swapped.ts');
    expect([swapped.code, verdictOf(swapped)]).toMatchObject([
      0,
      {
        verdict: 'inputs_differ',
        differences: [
          { event: { name: 'media.generateImage' }, fields: ['request.prompt'], at: [{ file, line: 6 }] },
          { event: { name: 'media.generateImage' }, fields: ['request.prompt'], at: [{ file, line: 7 }] },
        ],
      },
    ]);
    expect(swapped.reply.data?.['summary']).toMatchObject({ inputs_differ: 1, identical: 0 });
    expect(swapped.stdout).not.toContain('the front');
    const strict = await replay('posters-swapped.ts', '--strict-inputs');
    expect([strict.code, strict.reply.error?.type]).toEqual([5, 'replay_differs']);
    const args = ['replay', id, '--no-timeline', '--workflows-path', file];
    const { stdout } = await runCli(args, stack.env);
    expect(stdout).toMatch(/^inputs differ {2}pairOfPosters .*buys something different\.$/m);
    expect(stdout).toMatch(
      /^ {2}event \d+, ActivityTaskScheduled: activity media\.generateImage.*: request\.prompt$/m,
    );
    expect(stdout).toMatch(/^ {2}at .*posters-swapped\.ts:6:\d+/m);
  });
});
