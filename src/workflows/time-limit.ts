import { CancellationScope, sleep } from '@temporalio/workflow';

/**
 * Runs `work` in a scope that is cancelled after `limitMs`: `CancellationScope.withTimeout` with the same commands in
 * the same order, and a summary on its timer.
 */
export async function withTimeLimit<T>(limitMs: number, summary: string, work: () => Promise<T>): Promise<T> {
  const limited = new CancellationScope({ cancellable: true });
  return limited.run(async () => {
    const timer = new CancellationScope({ cancellable: true });
    void timer
      .run(() => sleep(limitMs, { summary }))
      .then(
        () => limited.cancel(),
        () => undefined,
      );
    try {
      return await work();
    } finally {
      timer.cancel();
    }
  });
}
