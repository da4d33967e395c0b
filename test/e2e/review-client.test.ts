import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { accountName, normaliseBaseUrl } from '../../src/activities';
import { TemporalMediaClient } from '../../src/client';
import { fingerprintText } from '../../src/domain/fingerprint';
import { ACTIVITY } from '../../src/domain/names';
import { type CreatedVideo, evidence, senderName, type UnconfirmedCall } from '../../src/domain/paid-call';
import { type VideoRequest } from '../../src/domain/request';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { makeVideoTask } from '../domain/make-video-task';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { answerEntry, intentEntry } from '../support/log-entries';
import { SANDBOX_KEY } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

/** What the first wait could not bring, a person gets by asking again: never by buying again (architecture: Wait). */
describe('asking again', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });

  const requestOf = (prompt: string): VideoRequest => ({ model: 'cine-1', prompt, durationSeconds: 2 });

  it.concurrent('[C3.4] resume by the id of a cancelled workflow waits for its video', async () => {
    const { media, server } = await stack();
    const prompt = '[run:3s] cancelled and resumed';
    const id = server.uniqueId('order');
    const first = await media.startVideo({ request: requestOf(prompt) }, { id });
    await eventually('the task', async () => (await media.videoState(id)).video !== null);
    await server.client.workflow.getHandle(id).cancel();
    const cancelled = await first.result();
    if (cancelled.outcome !== 'cancelled' || cancelled.video === null) throw new Error(cancelled.outcome);
    const resumed = await media.resume(id);
    expect(resumed.workflowId).not.toBe(id);
    expect(await resumed.result()).toMatchObject({
      outcome: 'completed',
      video: { taskId: cancelled.video.taskId },
    });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C4.4a] the same id after a lost worker adopts what the journal learned since then', async () => {
    const shared = await stack();
    const { server, dataDir, sandbox } = shared;
    const prompt = 'a video that was bought after all';
    const request = requestOf(prompt);
    const account = accountName('default', normaliseBaseUrl(sandbox.url));
    const base = { sendAttempt: 0, sent: true, account, estimate: null };
    const lost: UnconfirmedCall = { ...base, outcome: 'unconfirmed', evidence: evidence('worker_lost') };
    const journal = createFileJournal({ root: join(dataDir, 'lost-worker') });
    const id = server.uniqueId('order');
    const answers = [lost];
    const worker = await handMadeWorker(shared, { journal }, (real) => ({
      // The first time no worker could say more; from then on the real activity answers.
      [ACTIVITY.createVideo]: async (input) =>
        (input.creationKey === id ? answers.pop() : undefined) ?? real[ACTIVITY.createVideo](input),
    }));
    await worker.runUntil(async () => {
      const media = new TemporalMediaClient(server.client, { taskQueue: worker.taskQueue });
      // A real call binds the journal: a queue with calls of unknown fate takes no new one by itself.
      const before = await media.startVideo({ request: requestOf('one before it') });
      expect(await before.result()).toMatchObject({ outcome: 'completed' });
      const first = await media.startVideo({ request }, { id });
      expect(await first.result()).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { cause: 'worker_lost' },
      });

      const taskId = await buyByHand(sandbox.url, prompt);
      const video = makeVideoTask({
        taskId,
        model: request.model,
        durationSeconds: 2,
        resolution: null,
        account,
      });
      const created: CreatedVideo = { ...base, outcome: 'created', video, status: 'queued', warnings: [] };
      const key = { namespace: server.namespace, creationKey: id };
      const at = new Date().toISOString();
      const intent = intentEntry({
        ...key,
        workflowId: id,
        runId: first.runId,
        sender: senderName(first.runId, '1'),
        fingerprint: sha256(fingerprintText({ operation: 'create_video', request }, account)),
        account,
        model: request.model,
        at,
        sendWindowEnd: at,
      });
      await journal.append(key, 0, intent);
      await journal.append(key, 1, answerEntry(created, { at }));

      const second = await media.startVideo({ request }, { id });
      expect(second.isNew).toBe(true);
      expect(await second.result()).toMatchObject({ outcome: 'completed', video: { taskId } });
    });
    expect(await accepted(shared, prompt)).toBe(1);
  });
});

/** The send of the worker that was lost. */
async function buyByHand(baseUrl: string, prompt: string): Promise<string> {
  const reply = await fetch(`${baseUrl}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SANDBOX_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'cine-1', prompt, seconds: 2 }),
  });
  const { id } = (await reply.json()) as { id?: string };
  if (id === undefined) throw new Error(`The sandbox refused with HTTP ${reply.status}.`);
  return id;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
