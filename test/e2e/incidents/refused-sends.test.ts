import { runCli, runJson } from '../../cli/support/run-cli';
import { type MediaStack, startMediaStack } from '../../support/media-stack';

/** Incident F: the service refused some sends, and "4 paid requests" would frighten whoever reads it. */
describe('sends that the service refused', () => {
  let stack: MediaStack;
  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } });
    await stack.startWorker();
  });
  afterAll(() => stack.stop());

  it('are counted apart from the one that was accepted, as the service counted them', async () => {
    const { sandbox, media, server, env } = stack;
    await sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: 'a kite',
        times: 3,
        action: { type: 'status', status: 429, headers: { 'retry-after': '1' } },
      },
    ]);
    const id = server.uniqueId('refused');
    const started = await media.startVideo({ request: { model: 'sketch-lite', prompt: 'a kite' } }, { id });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    const { received, accepted } = (await sandbox.admin.counters()).creates;
    expect([received, accepted]).toEqual([4, 1]);
    const { reply } = await runJson(['replay', id], env);
    expect(reply.data).toMatchObject({
      targets: [
        { timeline: { sends: received, sendsRefused: received - accepted, sendsAccepted: accepted } },
      ],
    });
    const { stdout } = await runCli(['replay', id], env);
    expect(stdout).toContain(`${received} sends: ${received - accepted} refused, ${accepted} accepted`);
    expect(stdout).not.toMatch(/paid requests/);
    expect((await runJson(['status', id], env)).reply.data).toMatchObject({
      outcome: { outcome: 'completed' },
      safe: expect.stringMatching(/^It is done\./) as string,
    });
  });
});
