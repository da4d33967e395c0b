import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runDoctor } from '../../cli/support/doctor-run';
import { runJson } from '../../cli/support/run-cli';
import { accepted } from '../../support/accepted';
import { eventually } from '../../support/eventually';
import { type MediaStack, startMediaStack } from '../../support/media-stack';

/** The journal of a queue is gone while a video waits for a decision in it. */
describe('a journal that is lost', () => {
  let stack: MediaStack;
  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } });
  });
  afterAll(() => stack.stop());

  it('is named before anything is bought with another one; restored, everything is known again', async () => {
    const { env, server, sandbox, media } = stack;
    const first = await stack.startWorker();
    const prompt = 'a reply that is lost';
    await sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const id = server.uniqueId('journal');
    const request = { model: 'sketch-lite', prompt };
    const started = await media.startVideo({ request }, { id });
    expect(await started.result()).toMatchObject({ outcome: 'unconfirmed' });
    await first.stop();

    const journal = join(stack.dataDir, 'journal');
    await rename(journal, `${journal}-away`);
    const refused = await stack.startWorker().catch((error: unknown) => error as Error);
    expect((refused as Error).message).toMatch(/is bound to a different journal/);
    const { checks } = await runDoctor(env);
    expect(checks['binding']).toMatchObject({ state: 'failed' });
    const away = await runJson(['status', id], env);
    // Nobody can be asked whether somebody has decided: the commands say that they do not know.
    expect(away.reply.data).toMatchObject({
      outcome: { outcome: 'unconfirmed' },
      notes: expect.arrayContaining([
        expect.stringMatching(/^It is unknown whether a person has decided about it, because no worker/),
      ]) as unknown,
      safe: expect.stringMatching(/^Check the service's task records/) as string,
    });

    await rm(journal, { recursive: true, force: true });
    await rename(`${journal}-away`, journal);
    const again = await stack.startWorker();
    // It is ready before its first poll.
    const listed = await eventually('the worker', async () => {
      const { reply } = await runJson(['unconfirmed'], env);
      return reply.ok && reply;
    });
    expect(listed.data).toMatchObject({ unconfirmed: [{ creationKey: id }] });
    expect(await accepted(stack, prompt)).toBe(1);
    await again.stop();
  });
});
