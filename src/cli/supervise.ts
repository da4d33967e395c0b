import { setTimeout as delay } from 'node:timers/promises';
import { type RunningChild } from './child-process';

/** A child that is started again when it dies. */
export interface Supervised<Ready> {
  /** The running one; undefined while it is being started again. */
  current(): RunningChild<Ready> | undefined;
  /** No more restarts; resolves when the child is gone. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

export interface SuperviseOptions<Ready> {
  readonly name: string;
  readonly start: () => Promise<RunningChild<Ready>>;
  readonly onStart: (child: RunningChild<Ready>) => Promise<void>;
  readonly say: (line: string) => void;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** A child that ran this long is healthy: its next restart is quick again. */
const HEALTHY_MS = 60_000;

/** Starts a child and keeps one running: restarts after 1 s, 2 s, 4 s … up to 30 s. Throws when the first start fails. */
export async function supervise<Ready>(options: SuperviseOptions<Ready>): Promise<Supervised<Ready>> {
  const { name, start, onStart, say } = options;
  let child: RunningChild<Ready> | undefined = await start();
  const stopping = new AbortController();
  await onStart(child);

  const keep = async (): Promise<void> => {
    let delayMs = FIRST_DELAY_MS;
    let startedAt = Date.now();
    while (!stopping.signal.aborted) {
      const how = child === undefined ? 'it did not start' : await child.exited;
      if (stopping.signal.aborted) return;
      child = undefined;
      if (Date.now() - startedAt > HEALTHY_MS) delayMs = FIRST_DELAY_MS;
      say(`The ${name} ended (${how}); starting it again in ${delayMs / 1000} s.`);
      await pause(delayMs, stopping.signal);
      if (stopping.signal.aborted) return;
      delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
      startedAt = Date.now();
      try {
        child = await start();
        await onStart(child);
        say(`The ${name} runs again (process ${child.pid}).`);
      } catch (error) {
        say(`The ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  const kept = keep();

  return {
    current: () => child,
    kill: () => child?.kill(),
    stop: async (graceMs) => {
      stopping.abort();
      await child?.stop(graceMs);
      await kept;
      // A start that was under way when stop was called.
      await child?.stop(graceMs);
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
