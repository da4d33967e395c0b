import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Counts the heads of POST requests that undici is about to write, by origin: a second witness beside the marker. */
export interface Witness {
  heads(origin: string): number;
  close(): void;
}

const CHANNEL = 'undici:client:sendHeaders';

export function openWitness(): Witness {
  const counts = new Map<string, number>();
  const hear = (message: unknown): void => {
    const { request } = message as { request: { method: string; origin: string | URL } };
    if (request.method !== 'POST') return;
    const { origin } = new URL(String(request.origin));
    counts.set(origin, (counts.get(origin) ?? 0) + 1);
  };
  subscribe(CHANNEL, hear);
  return { heads: (origin) => counts.get(origin) ?? 0, close: () => void unsubscribe(CHANNEL, hear) };
}
