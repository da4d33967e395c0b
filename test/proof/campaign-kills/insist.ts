import { setTimeout as delay } from 'node:timers/promises';

/** A server that was just killed answers again in a moment. */
export async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries >= 20) throw error;
      await delay(1_000);
    }
  }
}
