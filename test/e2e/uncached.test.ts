import { type VideoOutcome } from '../../src/domain';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { accepted, received } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';

/** Every workflow task is a replay from the first event: what is not in the history is lost. */
describe('a worker that caches no workflow', () => {
  const stack = sharedStack({}, (started) => started.startWorker({ worker: { maxCachedWorkflows: 0 } }));

  async function run(prompt: string, input: Partial<GenerateVideoInput> = {}): Promise<VideoOutcome> {
    const { media } = await stack();
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    return (await media.startVideo({ ...input, request })).result();
  }

  it.concurrent('[C4.4a] completes a video with one create', async () => {
    const prompt = '[queue:0s] [run:2s] an uncached kite';
    expect(await run(prompt)).toMatchObject({ outcome: 'completed', warnings: [] });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C7.7] reports a failed task with its error', async () => {
    expect(await run('[queue:0s] [run:1s] [fail:capacity] an uncached storm')).toMatchObject({
      outcome: 'failed',
      error: { kind: 'capacity' },
      retryable: true,
    });
  });

  it.concurrent('[C3.4] ends a wait as still running, and a later wait fetches the video', async () => {
    const prompt = '[queue:0s] [run:15s] an uncached river';
    const outcome = await run(prompt, { waitFor: '4s' });
    expect(outcome).toMatchObject({ outcome: 'still_running' });
    if (outcome.outcome !== 'still_running') throw new Error('not still running');
    const { media } = await stack();
    expect(await (await media.resume(outcome.video.taskId)).result()).toMatchObject({
      outcome: 'completed',
      video: { taskId: outcome.video.taskId },
    });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C4.4c] keeps a lost reply unconfirmed and sends nothing again', async () => {
    const prompt = '[lost-reply] an uncached lighthouse';
    expect(await run(prompt)).toMatchObject({ outcome: 'unconfirmed', evidence: { model: 'cine-1' } });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C7.1] sends a refused request once', async () => {
    const prompt = '[http:400] an uncached mistake';
    expect(await run(prompt)).toMatchObject({ outcome: 'rejected', reason: 'invalid_request', sends: 1 });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C7.5] sends again after a proven refusal, and is accepted once', async () => {
    const prompt = '[http:429:2] [queue:0s] [run:1s] an uncached crowd';
    expect(await run(prompt)).toMatchObject({ outcome: 'completed' });
    expect(await received(await stack(), prompt)).toBe(2);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });
});
