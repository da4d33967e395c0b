import { type Timer, type VirtualTime } from './virtual-time';

let time: VirtualTime | undefined;

/** The schedule that runs now. */
export function currentTime(): VirtualTime {
  if (time === undefined) throw new Error('No schedule runs.');
  return time;
}

/** Clock, timers and chance as the code under test finds them: those of the schedule that runs. */
export function useTime(next: VirtualTime): void {
  time = next;
}

const NAMES = ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

/** Replaces the globals; the result puts the real ones back. */
export function installVirtualGlobals(): () => void {
  const real = NAMES.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  const realRandom = Math.random;
  const realStackLimit = Error.stackTraceLimit;
  const RealDate = Date;
  class VirtualDate extends RealDate {
    constructor(...given: readonly unknown[]) {
      if (given.length === 0) super(VirtualDate.now());
      else super(...(given as [number]));
    }
    static override now(): number {
      return currentTime().clock();
    }
  }
  const replacements: Record<(typeof NAMES)[number], unknown> = {
    Date: VirtualDate,
    // A monotonic clock stands still for nobody, a stopped process included.
    performance: { now: () => currentTime().now },
    setTimeout: (act: () => void, ms: number) => currentTime().after(ms, currentTime().current, act),
    clearTimeout: (timer: Timer | undefined) => {
      if (timer !== undefined) timer.cancelled = true;
    },
    // Heartbeats only: whether a process beats, the simulated server sees for itself, so that few schedules need them.
    setInterval: (act: () => void, ms: number) => currentTime().every(ms, act),
    clearInterval: (timer: Timer) => void (timer.cancelled = true),
  };
  for (const name of NAMES)
    Object.defineProperty(globalThis, name, {
      value: replacements[name],
      configurable: true,
      writable: true,
    });
  Math.random = () => currentTime().random.next();
  // Failures are made by the thousand and nobody reads where.
  Error.stackTraceLimit = 0;
  return () => {
    for (const [name, descriptor] of real)
      if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
    Math.random = realRandom;
    Error.stackTraceLimit = realStackLimit;
  };
}
