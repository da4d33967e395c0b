import { CancellationScope, sleep } from '@temporalio/workflow';

/**
 * The work, or `lost` when this workflow's own timer is faster: some operator commands leave an activity without any
 * timeout (failure-model 1.3). The timer outlives a cancellation of the caller, because the work is still awaited then.
 */
export async function raceTimer<T>(work: Promise<T>, limitMs: number, summary: string): Promise<T | 'lost'> {
  const shelter = new CancellationScope({ cancellable: false });
  const timer = new CancellationScope({ cancellable: true, parent: shelter });
  const lost = timer
    .run(() => sleep(limitMs, { summary }))
    .then(
      () => 'lost' as const,
      () => undefined,
    );
  const first = await Promise.race([work.then((value) => ({ value })), lost]);
  timer.cancel();
  if (first === 'lost') return 'lost';
  return first === undefined ? work : first.value;
}
