import { type RejectedCall, type StandingScope } from '../domain/paid-call';
import { type RejectReason } from '../domain/failure-table';
import { type RecordedAnswer } from '../domain/journal';
import { type PaidOperation } from '../domain/request';

/** Identifies calls that a refusal affects together: all of an account, among them those of one operation and model. */
export interface GatedCall {
  /** Resolved name of the account. */
  readonly account: string;
  readonly operation: PaidOperation;
  readonly model: string;
  /** The same object as long as the account has the same key: a refusal of another key no longer counts (C5.2). */
  readonly key: object;
}

/** A refusal in effect, as a call that was not sent because of it reports it. */
export interface StandingRefusal {
  readonly scope: StandingScope;
  readonly reason: RejectReason;
  readonly httpStatus: number | null;
  readonly message: string;
  /** Milliseconds since the Unix epoch: when it took effect. */
  readonly since: number;
  /** Milliseconds since the Unix epoch: when the next request checks whether it is still in effect. */
  readonly probeAt: number;
}

/** Permission to send. The result must be reported in every case. */
export interface Pass {
  /** Adds to a refusal in effect when it is tried again. */
  answered<Answer extends RecordedAnswer>(answer: Answer): Answer;
  /** Reports that the call was not sent. */
  unused(): void;
}

interface Door {
  readonly account: string;
  readonly scope: StandingScope;
  refusal: Omit<StandingRefusal, 'probeAt'> | null;
  probeAt: number;
  /** When a call last showed that no refusal is in effect. */
  provenAt: number;
  /** The key to which this state applies. */
  key: object | null;
  /** The probe in flight, for which other calls wait. */
  scout: Promise<void> | null;
}

export interface RefusalGateOptions {
  /** Milliseconds between two probes of a refused account or model. @default a minute */
  readonly probeMs?: number | undefined;
  readonly now?: () => number;
  /**
   * A refusal came into effect, with its reason, or ended.
   * @param closed refusals in effect for this account, in this scope
   */
  readonly onChange?:
    | ((account: string, scope: StandingScope, closed: number, reason: RejectReason | null) => void)
    | undefined;
}

const PROBE_MS = 60_000;
/** Longest time without a probe, whatever Retry-After says: a person may fix the cause at any time. */
const LONGEST_MS = 15 * 60_000;
/** Without a success for so long, one call probes before all others follow. */
const PROVEN_FOR_MS = 60_000;
/** Longest wait for a probe: a refusal comes at once; with a slower answer the service is at work. */
const LISTEN_MS = 2_000;

/**
 * Limits refused calls of a whole process: an answer that holds for an account (a key that is refused, no balance) or
 * for a model of it (switched off, unknown) must not be repeated for every row of a manifest. The first such refusal
 * holds back all calls like it; once a minute one real request checks whether it is still in effect. Where nothing is
 * known, one call goes first and the others wait for a moment.
 */
export class RefusalGate {
  private readonly doors = new Map<string, Door>();
  private readonly now: () => number;
  private readonly probeMs: number;
  private readonly onChange: RefusalGateOptions['onChange'];

  constructor({ probeMs = PROBE_MS, now = Date.now, onChange }: RefusalGateOptions = {}) {
    this.now = now;
    this.probeMs = probeMs;
    this.onChange = onChange;
  }

  /** Returns permission to send, or the refusal in effect. */
  async enter(call: GatedCall): Promise<Pass | StandingRefusal> {
    const { account, operation, model } = call;
    const doors = [
      this.door(account, account, 'account'),
      this.door(`${account} ${operation} ${model}`, account, 'model'),
    ];
    // A probe that hangs, on its journal or disk, gives no result.
    for (const door of doors) if (this.now() >= door.probeAt + LONGEST_MS) door.scout = null;
    const scouts = doors.flatMap(({ scout }) => (scout === null ? [] : [scout]));
    if (scouts.length > 0) await within(LISTEN_MS, Promise.all(scouts));
    const now = this.now();
    for (const door of doors) {
      if (door.key !== call.key) {
        Object.assign(door, { provenAt: -Infinity, key: call.key });
        this.set(door, null);
      }
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

  private set(door: Door, refusal: Door['refusal']): void {
    const { account, scope, refusal: before } = door;
    door.refusal = refusal;
    if (this.onChange === undefined || (before === null) === (refusal === null)) return;
    const doors = [...this.doors.values()].filter((one) => one.account === account && one.scope === scope);
    const closed = doors.filter((one) => one.refusal !== null).length;
    this.onChange(account, scope, closed, refusal?.reason ?? null);
  }

  private door(key: string, account: string, scope: StandingScope): Door {
    let door = this.doors.get(key);
    if (door === undefined) {
      door = { account, scope, refusal: null, probeAt: 0, provenAt: -Infinity, key: null, scout: null };
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
    // A call that never arrived, or of unknown fate, shows nothing.
    if (answer.outcome === 'not_sent' || answer.outcome === 'unconfirmed') return answer;
    const now = this.now();
    const refused = standingOf(answer);
    if (refused?.standing !== 'account') this.open(account, now);
    if (refused === undefined) {
      this.open(model, now);
      return answer;
    }
    const door = refused.standing === 'account' ? account : model;
    this.set(door, refusalOf(refused, door.refusal?.since ?? now));
    // The refused call waits as long as the service said (C8.7), whatever other calls show meanwhile.
    const notBefore = Date.parse(refused.notBefore ?? '') || 0;
    door.probeAt = Math.max(now + this.probeMs, Math.min(notBefore, now + LONGEST_MS));
    return { ...answer, heldUntil: new Date(Math.max(door.probeAt, notBefore)).toISOString() };
  }

  private open(door: Door, now: number): void {
    this.set(door, null);
    door.provenAt = now;
  }
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
