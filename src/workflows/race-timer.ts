import { CancellationScope, sleep } from '@temporalio/workflow';

/** In milliseconds. */
export interface RaceLimits {
  /** Everything that the server may take. */
  readonly limitMs: number;
  /** What is left once the caller is cancelled: the server drops what no worker has, so that only one attempt can run on. */
  readonly afterCancelMs: number;
  readonly summary: string;
}

/**
 * The work, or `lost` when this workflow's own timer is faster: some operator commands leave an activity without any
 * timeout (failure model: What Temporal runs again). The timers outlive a cancellation of the caller, because the work is still awaited then;
 * but whoever cancelled does not wait a day for a worker that was killed while its activity was paused.
 */
export async function raceTimer<T>(work: Promise<T>, limits: RaceLimits): Promise<T | 'lost'> {
  const { limitMs, afterCancelMs, summary } = limits;
  const caller = CancellationScope.current();
  const shelter = new CancellationScope({ cancellable: false });
  const timer = new CancellationScope({ cancellable: true, parent: shelter });
  const lost = (ms: number): Promise<'lost' | undefined> =>
    timer
      .run(() => sleep(ms, { summary }))
      .then(
        () => 'lost' as const,
        () => undefined,
      );
  const races: Promise<{ readonly value: T } | 'lost' | undefined>[] = [
    work.then((value) => ({ value })),
    lost(limitMs),
  ];
  if (caller.cancellable) races.push(caller.cancelRequested.catch(() => lost(afterCancelMs)));
  const first = await Promise.race(races);
  timer.cancel();
  if (first === 'lost') return 'lost';
  return first === undefined ? work : first.value;
}
