import { type RejectedCall, type RejectReason, type StandingScope } from '../domain/paid-call';
import { type RecordedAnswer } from '../domain/journal';
import { type PaidOperation } from '../domain/request';

/** Which calls share a fate: all of an account, and among them those of one operation and model. */
export interface GatedCall {
  /** Resolved name of the account. */
  readonly account: string;
  readonly operation: PaidOperation;
  readonly model: string;
  /** The same object for as long as the account has the same key: what was refused for another key stands no more (C5.2). */
  readonly key: object;
}

/** A refusal that stands, as a call that was not sent because of it may tell it. */
export interface StandingRefusal {
  readonly scope: StandingScope;
  readonly reason: RejectReason;
  readonly httpStatus: number | null;
  readonly message: string;
  /** Milliseconds since the Unix epoch: since when it stands. */
  readonly since: number;
  /** Milliseconds since the Unix epoch: when the next request asks whether it still stands. */
  readonly probeAt: number;
}

/** Leave to send. What came of it must be told, whatever it is. */
export interface Pass {
  /** Adds to a refusal that stands when it is tried again. */
  answered<Answer extends RecordedAnswer>(answer: Answer): Answer;
  /** It was not sent after all. */
  unused(): void;
}

interface Door {
  refusal: Omit<StandingRefusal, 'probeAt'> | null;
  probeAt: number;
  /** When a call showed last that nothing stands in the way. */
  provenAt: number;
  /** With which key it was refused. */
  key: object | null;
  /** One call that finds out for those that come meanwhile. */
  scout: Promise<void> | null;
}

export interface RefusalGateOptions {
  /** Milliseconds between two requests of an account, or a model, that is refused. @default a minute */
  readonly probeMs?: number | undefined;
  readonly now?: () => number;
}

const PROBE_MS = 60_000;
/** A person may mend it at any time: no Retry-After keeps all calls of an account from finding out for longer. */
const LONGEST_MS = 15 * 60_000;
/** A call that nobody has shown to work for so long is tried by one before all others follow. */
const PROVEN_FOR_MS = 60_000;
/** A refusal comes at once; who takes longer to answer is at work, and the others follow. */
const LISTEN_MS = 2_000;

/**
 * A brake for a whole process: an answer that holds for an account (a key that is refused, no balance) or for a model of
 * it (switched off, unknown) must not be bought by every row of a manifest. The first such refusal closes the way for all
 * calls like it; once a minute one real request goes through and finds out whether it still stands. Where nothing is
 * known, one goes first and the others listen for a moment.
 */
export class RefusalGate {
  private readonly doors = new Map<string, Door>();
  private readonly now: () => number;
  private readonly probeMs: number;

  constructor({ probeMs = PROBE_MS, now = Date.now }: RefusalGateOptions = {}) {
    this.now = now;
    this.probeMs = probeMs;
  }

  /** Leave to send, or the refusal that stands. */
  async enter(call: GatedCall): Promise<Pass | StandingRefusal> {
    const doors = [this.door(call.account), this.door(`${call.account} ${call.operation} ${call.model}`)];
    // One that hangs, for its journal or its disk does, finds nothing out.
    for (const door of doors) if (this.now() >= door.probeAt + LONGEST_MS) door.scout = null;
    const scouts = doors.flatMap(({ scout }) => (scout === null ? [] : [scout]));
    if (scouts.length > 0) await within(LISTEN_MS, Promise.all(scouts));
    const now = this.now();
    for (const door of doors) {
      if (door.key !== call.key) Object.assign(door, { refusal: null, provenAt: -Infinity, key: call.key });
      const { refusal, probeAt, scout } = door;
      if (refusal !== null && (scout !== null || now < probeAt))
        return { ...refusal, probeAt: Math.max(probeAt, now + 1) };
    }
    const unproven = doors.filter(
      ({ refusal, provenAt, scout }) =>
        scout === null && (refusal !== null || now - provenAt >= PROVEN_FOR_MS),
    );
    return this.pass(doors, unproven);
  }

  private door(key: string): Door {
    let door = this.doors.get(key);
    if (door === undefined) {
      door = { refusal: null, probeAt: 0, provenAt: -Infinity, key: null, scout: null };
      this.doors.set(key, door);
    }
    return door;
  }

  private pass(doors: readonly Door[], scouted: readonly Door[]): Pass {
    let end: () => void = () => undefined;
    const scout = new Promise<void>((resolve) => (end = resolve));
    for (const door of scouted) {
      door.scout = scout;
      door.probeAt = this.now() + this.probeMs;
    }
    const leave = (): void => {
      for (const door of scouted) if (door.scout === scout) door.scout = null;
      end();
    };
    return {
      answered: (answer) => {
        const standing = this.validate(doors, answer);
        leave();
        return standing;
      },
      unused: leave,
    };
  }

  private validate<Answer extends RecordedAnswer>(doors: readonly Door[], answer: Answer): Answer {
    const [account, model] = doors as [Door, Door];
    // What never arrived, or nobody knows about, shows nothing.
    if (answer.outcome === 'not_sent' || answer.outcome === 'unconfirmed') return answer;
    const now = this.now();
    const refused = standingOf(answer);
    if (refused?.standing !== 'account') open(account, now);
    if (refused === undefined) {
      open(model, now);
      return answer;
    }
    const door = refused.standing === 'account' ? account : model;
    door.refusal = refusalOf(refused, door.refusal?.since ?? now);
    // The call that was refused waits as long as the service said (C8.7), whatever others find out meanwhile.
    const notBefore = Date.parse(refused.notBefore ?? '') || 0;
    door.probeAt = Math.max(now + this.probeMs, Math.min(notBefore, now + LONGEST_MS));
    return { ...answer, heldUntil: new Date(Math.max(door.probeAt, notBefore)).toISOString() };
  }
}

function open(door: Door, now: number): void {
  door.refusal = null;
  door.provenAt = now;
}

function standingOf(answer: RecordedAnswer): RejectedCall | undefined {
  return answer.outcome === 'rejected' && answer.standing !== undefined ? answer : undefined;
}

function refusalOf({ standing, reason, httpStatus, message }: RejectedCall, since: number): Door['refusal'] {
  return { scope: standing ?? 'account', reason, httpStatus: httpStatus ?? null, message, since };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
