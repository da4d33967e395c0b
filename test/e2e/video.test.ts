import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type VideoOutcome } from '../../src/domain';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { accepted, received } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';

describe('a video on the real server', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 1_000 } } });

  async function run(
    request: Partial<GenerateVideoInput['request']> & { prompt: string },
    input: Partial<GenerateVideoInput> = {},
  ): Promise<VideoOutcome> {
    const { media } = await stack();
    const started = await media.startVideo({ ...input, request: { model: 'cine-1', ...request } });
    return started.result();
  }

  const artifactFile = async (sha256: string) =>
    join((await stack()).dataDir, 'artifacts', 'sha256', sha256.slice(0, 2), sha256);

  it.concurrent('[C1.1] [C4.4b] [C3.2] is created, polled, downloaded, in that order, and keeps its facts', async () => {
    const outcome = await run({
      prompt: '[run:2s] a kite over the sea',
      durationSeconds: 2,
      resolution: '480p',
    });
    expect(outcome).toMatchObject({
      outcome: 'completed',
      video: {
        model: 'cine-1',
        durationSeconds: 2,
        resolution: '480p',
        referenceMode: 'none',
        source: 'create_reply',
      },
      requested: { model: 'cine-1', durationSeconds: 2, resolution: '480p', referenceMode: 'none' },
    });
    if (outcome.outcome !== 'completed') throw new Error('not completed');
    const bytes = await readFile(await artifactFile(outcome.artifact.sha256));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(outcome.artifact.sha256);
    expect(bytes.length).toBe(outcome.artifact.bytes);
    const seen = (await (await stack()).sandbox.admin.requests())
      .filter((request) => request.taskId === outcome.video.taskId)
      .map((request) => request.operation);
    expect(seen[0]).toBe('create');
    expect(seen.filter((operation) => operation === 'create')).toHaveLength(1);
    expect(seen.indexOf('poll')).toBeLessThan(seen.indexOf('content'));
  });

  it.concurrent('[C3.4] ends its wait as still running, with the task, and is fetched later without another create', async () => {
    const prompt = '[run:12s] a slow river';
    const outcome = await run({ prompt, durationSeconds: 2 }, { waitFor: '4s' });
    expect(outcome).toMatchObject({ outcome: 'still_running', lastStatus: expect.any(String) as string });
    if (outcome.outcome !== 'still_running') throw new Error('not still running');
    const { media } = await stack();
    const resumed = await media.resume(outcome.video.taskId);
    const beside = await media.resume(outcome.video.taskId);
    expect([resumed.isNew, beside.isNew, beside.workflowId]).toEqual([true, false, resumed.workflowId]);
    const later = await resumed.result();
    expect(await beside.result()).toEqual(later);
    expect(later).toMatchObject({ outcome: 'completed', video: { taskId: outcome.video.taskId } });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C7.8] tells capacity from moderation', async () => {
    const [moderation, capacity] = await Promise.all([
      run({ prompt: '[fail:moderation] something', durationSeconds: 2 }),
      run({ prompt: '[fail:capacity] something', durationSeconds: 2 }),
    ]);
    expect(moderation).toMatchObject({ outcome: 'failed', error: { kind: 'moderation' }, retryable: false });
    expect(capacity).toMatchObject({ outcome: 'failed', error: { kind: 'capacity' }, retryable: true });
  });

  it.concurrent('[C4.4a] [C4.4c] a lost reply after acceptance ends unconfirmed with its evidence, and is not sent again', async () => {
    const prompt = '[lost-reply] a lighthouse';
    const outcome = await run({ prompt, durationSeconds: 2 });
    expect(outcome).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string, model: 'cine-1' },
    });
    expect(await received(await stack(), prompt)).toBe(1);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });
});
