import { setTimeout as delay } from 'node:timers/promises';
import { TemporalMediaClient } from '../../src/client';
import { openCliBench } from '../cli/support/cli-bench';
import { runJson } from '../cli/support/run-cli';
import { eventually } from '../support/eventually';

/**
 * Somebody asks for the state of a video whose worker was killed, just before its next poll. The server hands the question to a
 * new worker while the timer of that poll has fired and its workflow task still waits for the old one: the code runs
 * on with the clock of the task before.
 */
test('[C8.2] a question after a crash changes nothing in what the workflow does: its history replays', async () => {
  const bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
  try {
    const { client } = bench.server;
    const media = new TemporalMediaClient(client, { taskQueue: bench.clientEnv['MEDIA_TASK_QUEUE'] ?? '' });
    const worker = await bench.startWorker();
    const id = bench.server.uniqueId('asked');
    const started = await media.startVideo(
      { request: { model: 'sketch-lite', prompt: 'x [run:14s]' } },
      { id },
    );
    const { nextPollAt } = await eventually('a poll', async () => {
      const state = await media.videoState(id);
      return state.polls > 0 ? state : undefined;
    });
    worker.child.kill('SIGKILL');
    await worker.ended;
    const next = bench.startWorker();
    // Not an event, but a moment: the question has to be open when the timer fires.
    await delay(Math.max(0, Date.parse(nextPollAt ?? '') - Date.now() - 500));
    await client.withDeadline(Date.now() + 30_000, () => media.videoState(id));
    await next;
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    const { reply } = await runJson(['replay', id], bench.clientEnv);
    expect(reply.data).toMatchObject({ summary: { identical: 1, diverges: 0 } });
  } finally {
    await bench.close();
  }
});
