import { ACTIVITY } from '../../domain/names';
import { type DemoCase, type DemoStage } from './demo-case';
import { resultOf } from './demo-result';

/** A worker dies without warning right after the outcome of its create was recorded. */
export const killedWorkerCase: DemoCase = {
  name: 'killed-worker',
  why: 'what the journal holds outlives the worker: another one finishes the same task',
  expected: 'completed',
  paid: { creates: 1, images: 0 },
  run: async ({ fragile, id, accepted, say }: DemoStage) => {
    const request = {
      model: 'sketch-lite',
      prompt: 'a candle in the wind [run:6s]',
      durationSeconds: 2,
    };
    const first = await fragile.startWorker();
    const recorded = fragile.outcomeRecorded();
    const started = await fragile.media.startVideo({ request }, { id: id('killed-worker') });
    await recorded;
    first.kill();
    say(`killed-worker: the outcome is recorded; worker ${first.pid} ended with ${await first.exited}`);
    const second = await fragile.startWorker();
    const { seen, ...rest } = resultOf(await started.result());
    const journal = (await fragile.activitiesOf(started.workflowId)).includes(ACTIVITY.reconcileCreate);
    const times = await accepted(request.prompt);
    return {
      ...rest,
      seen: times === 1 ? seen : `${seen}, accepted ${times} times`,
      notes: [
        ...rest.notes,
        `worker ${second.pid} finished it; the task id came ${journal ? 'from the journal' : 'just in time from the first worker'}`,
        `the sandbox accepted it ${times} time(s)`,
      ],
    };
  },
};
