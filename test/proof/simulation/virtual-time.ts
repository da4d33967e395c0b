import { type Random } from './random';

/** An operating system process, or something that never dies: a server, a workflow that its history keeps alive. */
export interface Process {
  readonly name: string;
  readonly host: string;
  /** What its clock shows more than true time, in milliseconds. */
  readonly skewMs: number;
  /** Killed: its promises never go on. */
  dead: boolean;
  /** Stopped (SIGSTOP) until this true time: whatever is due waits. */
  frozenUntil: number;
}

/** Whoever goes on when an event fires. While its promises run, the clock and the SDK's functions are its own. */
export interface Actor {
  readonly process: Process;
}

export interface Timer {
  cancelled: boolean;
}

interface Event extends Timer {
  at: number;
  /** Of two events at one time chance says which comes first. */
  readonly order: number;
  readonly actor: Actor;
  readonly act: () => void;
}

export function makeProcess(name: string, skewMs = 0, host = ''): Process {
  return { name, host, skewMs, dead: false, frozenUntil: 0 };
}

/** A schedule that goes on for ever: no real one has so many events or lasts so long. */
const MOST_EVENTS = 2_000_000;
const LONGEST_MS = 30 * 24 * 3_600_000;

/**
 * Virtual time: one queue of events, one after the other; between two of them every promise that can go on has gone on.
 * So whoever the event was for is the only one that runs, and the order of everything follows from the seed.
 */
export class VirtualTime {
  now = Date.UTC(2026, 0, 1);
  events = 0;
  current: Actor;
  /** Called before an event of a living process; true drops it: its process has just died or was stopped. */
  before: ((actor: Actor) => void) | undefined;
  readonly trace: string[] | undefined;
  /** Whether intervals fire. */
  beats = false;
  private readonly heap: Event[] = [];
  private readonly startedAt = this.now;

  constructor(
    readonly random: Random,
    readonly world: Actor,
    traced: boolean,
  ) {
    this.current = world;
    this.trace = traced ? [] : undefined;
  }

  /** What the clock of the current process shows. */
  readonly clock = (): number => this.now + this.current.process.skewMs;

  say(text: () => string): void {
    if (this.trace === undefined) return;
    const seconds = ((this.now - this.startedAt) / 1000).toFixed(3).padStart(10);
    this.trace.push(`${seconds} ${this.current.process.name.padEnd(10)} ${text()}`);
  }

  after(delayMs: number, actor: Actor, act: () => void): Timer {
    const event: Event = {
      at: this.now + Math.max(0, delayMs),
      order: this.random.next(),
      actor,
      act,
      cancelled: false,
    };
    this.push(event);
    return event;
  }

  /** Again and again for the current actor, in schedules that have such beats. */
  every(ms: number, act: () => void): Timer & { unref(): void } {
    const actor = this.current;
    const timer = { cancelled: !this.beats, unref: () => undefined };
    const next = (): void =>
      void this.after(ms, actor, () => {
        if (timer.cancelled) return;
        act();
        next();
      });
    if (this.beats) next();
    return timer;
  }

  /** A promise of the current actor that goes on after a while, unless its process has died. */
  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, this.current, resolve));
  }

  /** Fires every event. Rejects when there is no end of them, or when one of them throws. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        try {
          if (!this.fireNext()) return resolve();
        } catch (error) {
          return reject(error instanceof Error ? error : new Error(String(error)));
        }
        // Every microtask comes before the next tick: when that comes, nothing of this event is left to run.
        queueMicrotask(() => process.nextTick(turn));
      };
      turn();
    });
  }

  /** Milliseconds since the beginning. */
  elapsed(): number {
    return this.now - this.startedAt;
  }

  private fireNext(): boolean {
    for (let event = this.pop(); event !== undefined; event = this.pop()) {
      const { process: whose } = event.actor;
      if (event.cancelled || whose.dead) continue;
      if (this.held(event)) continue;
      this.now = event.at;
      this.events += 1;
      if (this.events > MOST_EVENTS || this.elapsed() > LONGEST_MS)
        throw new Error(`no end after ${this.events} events and ${this.elapsed() / 3_600_000} h`);
      this.before?.(event.actor);
      if (whose.dead || this.held(event)) continue;
      this.current = event.actor;
      event.act();
      return true;
    }
    return false;
  }

  /** A stopped process goes on when it is continued. */
  private held(event: Event): boolean {
    const { frozenUntil } = event.actor.process;
    if (frozenUntil <= event.at) return false;
    event.at = frozenUntil;
    this.push(event);
    return true;
  }

  private push(event: Event): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[at] = heap[parent] as Event;
      at = parent;
    }
    heap[at] = event;
  }

  private pop(): Event | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
