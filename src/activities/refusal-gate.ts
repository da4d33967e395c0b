import { LRUCache } from 'lru-cache';
import { type RejectReason } from '../domain/failure-table';
import { isPaid, type RecordedAnswer } from '../domain/log-entries';
import { type RejectedCall, type StandingScope } from '../domain/paid-call';
import { type PaidOperation } from '../domain/request';
import { type TaskError } from '../domain/video-task';
import { atMostFor, msUntil, timeAfter } from '../service/time-left';

/** The parts of a refusal that determine its scope. */
interface RefusalSigns {
  readonly reason: RejectReason;
  readonly httpStatus: number;
  readonly error: TaskError;
}

/**
 * Patterns that match a disabled or unknown model in the services' codes and messages. Errors about the model's
 * parameters do not match.
 */
const MODEL_CODE =
  /^(?:.*\.)?(?:model_?(?:not_?found|does_?not_?exist|not_?exists?|disabled)|(?:unknown|no_?such|disabled)_?model)$/i;
const MODEL_WORDS =
  /\bmodel\b\W{1,3}(?:[\w./:-]{1,80}\W{1,3})?(?:is )?(?:not found|does not exist|disabled|switched off)\b|\b(?:unknown|no such|disabled) (?:(?:image|video) )?model\b/i;

/**
 * Returns the scope in which a proven refusal remains in effect until a person fixes its cause: the account (its key or
 * balance), or one of its models (disabled, unknown, or not served at this path). Returns undefined if the refusal
 * applies only to this request.
 */
export function standingScope({ reason, httpStatus, error }: RefusalSigns): StandingScope | undefined {
  if (reason !== 'credentials' && reason !== 'quota' && reason !== 'invalid_request') return undefined;
  if (namesModel(error)) return 'model';
  if (reason !== 'invalid_request') return 'account';
  return httpStatus === 404 || httpStatus === 405 ? 'model' : undefined;
}

/**
 * Whether a refusal with a scope may apply only to its own request: a firewall can return 403 or 404 because of a
 * prompt, and a service can return 403 for forbidden content. One other call shows which it is.
 */
function mayBeOfOneRequest({ reason, httpStatus, error }: Partial<RefusalSigns>): boolean {
  const isVague = httpStatus === 403 || httpStatus === 404 || httpStatus === 405;
  return isVague && reason !== 'quota' && !(error !== undefined && namesModel(error));
}

const namesModel = ({ code, message }: TaskError): boolean =>
  MODEL_CODE.test(code ?? '') || MODEL_WORDS.test(message ?? '');

/** Identifies calls that the same refusal affects: all of an account's calls, or those for one operation and model. */
export interface GatedCall {
  /** The call's creation key. All sends under it count as one call. */
  readonly call: string;
  /** The account's resolved name. */
  readonly account: string;
  readonly operation: PaidOperation;
  readonly model: string;
  /** The same object as long as the account's key is unchanged. A refusal for another key no longer applies. */
  readonly key: object;
}

/** A standing refusal, as reported by a call that was not sent because of it. */
export interface StandingRefusal {
  readonly scope: StandingScope;
  readonly reason: RejectReason;
  readonly httpStatus: number | null;
  readonly message: string;
  /** When the refusal took effect (ISO 8601). */
  readonly since: string;
  /** Milliseconds until the next request checks whether it is still in effect. */
  readonly probeInMs: number;
}

/** Permission to send. The caller must always report the result. */
export interface Pass {
  /** Adds the time of the next retry to a refusal that is still in effect. */
  answered<Answer extends RecordedAnswer>(answer: Answer): Answer;
  /** Reports that the call was not sent. */
  unused(): void;
}

/** The circuit breaker for an account, or for one of its operations and models. */
interface Circuit {
  readonly account: string;
  readonly scope: StandingScope;
  refusal: Omit<StandingRefusal, 'probeInMs'> | null;
  /** According to the gate's clock. */
  probeAt: number;
  /** When a call last showed that no refusal is in effect. */
  provenAt: number;
  /** When the call that was last accepted entered the gate. */
  acceptedAt: number;
  /** Calls that have been refused since then, each possibly only because of what it requested. */
  readonly doubts: Set<string>;
  /** The account key that this state applies to. */
  key: object | null;
  /** The probe in flight, which other calls wait for. */
  probe: Promise<void> | null;
}

export interface RefusalGateOptions {
  /** Milliseconds between two probes of a refused account or model. @default one minute */
  readonly probeMs?: number | undefined;
  /** Returns milliseconds from a monotonic clock. @default `performance.now` */
  readonly now?: () => number;
  /**
   * Called when a standing refusal takes effect, with its reason, or when one ends.
   * @param inEffect number of standing refusals for this account in this scope
   */
  readonly onChange?:
    | ((account: string, scope: StandingScope, inEffect: number, reason: RejectReason | null) => void)
    | undefined;
}

const PROBE_MS = 60_000;
/** Maximum time without a probe, whatever Retry-After says, because a person may fix the cause at any time. */
const LONGEST_MS = 15 * 60_000;
/** Time without a success after which one call probes before the others follow. */
const PROVEN_FOR_MS = 60_000;
/** Maximum wait for a probe, in milliseconds. Refusals are fast; if the reply is slower, the service is working. */
const LISTEN_MS = 2_000;
/**
 * Milliseconds after which a call is retried if its refusal may apply only to its own request. By then, other calls
 * will have shown whether that is so.
 */
const DOUBT_MS = 5_000;
/**
 * Number of refusals after which a call's refusal is final if the account has ever accepted another call, even if not
 * since the last refusal.
 */
const OWN_REFUSALS = 5;
/** Number of doubtful calls at which the wait for the next probe is longest. */
const MOST_DOUBTS = 8;
/** Number of calls whose refusals are remembered. */
const REMEMBERED = 10_000;

/**
 * Limits refused calls across an entire process: a refusal for an account (key, balance) or one of its models
 * (disabled, unknown) must not be repeated for every row in a manifest. The first such refusal holds back all similar
 * calls. Once a minute, a single real request checks whether the refusal is still in effect. If nothing is known yet,
 * one call goes first and the others wait briefly.
 *
 * A firewall also returns 403 or 404 because of a prompt. Such a refusal holds nothing back until a second one confirms
 * it, and then only for a second at first. If a call is refused again after others were accepted, the refusal applies
 * to the call itself and is final. The fifth refusal is also final if there are no other calls left to accept.
 */
export class RefusalGate {
  private readonly circuits = new Map<string, Circuit>();
  /** Refusals that may apply only to their own requests, by circuit and call. */
  private readonly refusals = new LRUCache<string, { readonly at: number; readonly times: number }>({
    max: REMEMBERED,
  });
  private readonly now: () => number;
  private readonly probeMs: number;
  private readonly onChange: RefusalGateOptions['onChange'];

  constructor({ probeMs = PROBE_MS, now = () => performance.now(), onChange }: RefusalGateOptions = {}) {
    this.now = now;
    this.probeMs = probeMs;
    this.onChange = onChange;
  }

  /** Returns permission to send, or the standing refusal. */
  async enter(call: GatedCall): Promise<Pass | StandingRefusal> {
    const { account, operation, model } = call;
    const circuits = [
      this.circuit(account, account, 'account'),
      this.circuit(`${account} ${operation} ${model}`, account, 'model'),
    ];
    // A probe that hangs on its journal or disk never returns a result.
    for (const circuit of circuits) if (this.now() >= circuit.probeAt + LONGEST_MS) circuit.probe = null;
    const probes = (): Promise<void>[] => circuits.flatMap(({ probe }) => probe ?? []);
    let hasEnded = true;
    // The first call to wake can probe next, so nothing is awaited between this loop and the pass.
    while (hasEnded && probes().length > 0)
      hasEnded = (await atMostFor(Promise.all(probes()), LISTEN_MS)) !== undefined;
    const now = this.now();
    for (const circuit of circuits) {
      if (circuit.key !== call.key) {
        Object.assign(circuit, { provenAt: -Infinity, acceptedAt: -Infinity, key: call.key });
        circuit.doubts.clear();
        this.set(circuit, null);
      }
      const { refusal, probeAt, probe } = circuit;
      if (refusal !== null && (probe !== null || now < probeAt))
        return { ...refusal, probeInMs: Math.max(1, Math.ceil(probeAt - now)) };
    }
    const unproven = circuits.filter(
      ({ refusal, provenAt, probe }) =>
        probe === null && (refusal !== null || now - provenAt >= PROVEN_FOR_MS),
    );
    return this.pass(circuits, call, unproven);
  }

  private set(circuit: Circuit, refusal: Circuit['refusal']): void {
    const { account, scope, refusal: before } = circuit;
    circuit.refusal = refusal;
    if (this.onChange === undefined || (before === null) === (refusal === null)) return;
    const circuits = [...this.circuits.values()].filter(
      (one) => one.account === account && one.scope === scope,
    );
    const inEffect = circuits.filter((one) => one.refusal !== null).length;
    this.onChange(account, scope, inEffect, refusal?.reason ?? null);
  }

  private circuit(key: string, account: string, scope: StandingScope): Circuit {
    let circuit = this.circuits.get(key);
    if (circuit === undefined) {
      circuit = {
        account,
        scope,
        refusal: null,
        probeAt: -Infinity,
        provenAt: -Infinity,
        acceptedAt: -Infinity,
        doubts: new Set(),
        key: null,
        probe: null,
      };
      this.circuits.set(key, circuit);
    }
    return circuit;
  }

  private pass(circuits: readonly Circuit[], { call }: GatedCall, probed: readonly Circuit[]): Pass {
    const enteredAt = this.now();
    let end: () => void = () => undefined;
    const probe = new Promise<void>((resolve) => (end = resolve));
    for (const circuit of probed) {
      circuit.probe = probe;
      circuit.probeAt = this.now() + this.probeMs;
    }
    const leave = (): void => {
      for (const circuit of probed) if (circuit.probe === probe) circuit.probe = null;
      end();
    };
    return {
      answered: (answer) => {
        const recorded = this.observe(circuits, { call, enteredAt }, answer);
        leave();
        return recorded;
      },
      unused: leave,
    };
  }

  private observe<Answer extends RecordedAnswer>(
    circuits: readonly Circuit[],
    { call, enteredAt }: { readonly call: string; readonly enteredAt: number },
    answer: Answer,
  ): Answer {
    const [account, model] = circuits as [Circuit, Circuit];
    // A call that never arrived, or whose outcome is unknown, proves nothing.
    if (answer.outcome === 'not_sent' || answer.outcome === 'unconfirmed') return answer;
    const now = this.now();
    const refused = standingOf(answer);
    if (refused?.standing !== 'account') this.reset(account, now);
    if (refused === undefined) {
      this.reset(model, now);
      if (isPaid(answer))
        for (const circuit of circuits) circuit.acceptedAt = Math.max(circuit.acceptedAt, enteredAt);
      return answer;
    }
    const circuit = refused.standing === 'account' ? account : model;
    if (this.isOwn(circuit, call, refused, now)) {
      // This answer says nothing about the account, so the next call probes.
      circuit.probeAt = now;
      return ofItsOwn(refused) as Answer;
    }
    // The refused call waits as long as the service requires (C8.7), whatever other calls show in the meantime.
    const askedMs = refused.notBefore === undefined ? 0 : msUntil(refused.notBefore);
    const holdMs = this.trip(circuit, call, refused, now, Math.min(askedMs, LONGEST_MS));
    return { ...answer, heldUntil: timeAfter(Math.max(holdMs, askedMs)) };
  }

  /** Whether the account accepts other calls, so that this refusal applies only to its own request. */
  private isOwn(circuit: Circuit, call: string, refused: RejectedCall, now: number): boolean {
    if (!mayBeOfOneRequest(refused)) return false;
    const place = JSON.stringify([circuit.account, circuit.scope, call]);
    const { at, times } = this.refusals.get(place) ?? { at: Infinity, times: 0 };
    this.refusals.set(place, { at: now, times: times + 1 });
    return at < circuit.acceptedAt || (circuit.acceptedAt > -Infinity && times + 1 >= OWN_REFUSALS);
  }

  /** Opens a circuit if this refusal is reason enough. @returns milliseconds until the refused call is retried */
  private trip(circuit: Circuit, call: string, refused: RejectedCall, now: number, askedMs: number): number {
    const isDoubtful = mayBeOfOneRequest(refused);
    if (isDoubtful && circuit.doubts.size < MOST_DOUBTS) circuit.doubts.add(call);
    if (isDoubtful && circuit.doubts.size === 1) return Math.min(DOUBT_MS, this.probeMs);
    this.set(circuit, refusalOf(refused, circuit.refusal?.since ?? timeAfter(0)));
    const probeMs = isDoubtful
      ? Math.min(1_000 * 2 ** (circuit.doubts.size - 2), this.probeMs)
      : this.probeMs;
    circuit.probeAt = now + Math.max(probeMs, askedMs);
    return circuit.probeAt - now;
  }

  private reset(circuit: Circuit, now: number): void {
    this.set(circuit, null);
    circuit.provenAt = now;
    circuit.doubts.clear();
  }
}

/** Returns the refusal for a call that is refused although others are accepted, so waiting does not help. */
function ofItsOwn({ standing: _, ...refused }: RejectedCall): RejectedCall {
  const message = `${refused.message} The account's other calls are being accepted, so the refusal applies only to this request.`;
  return { ...refused, message };
}

function standingOf(answer: RecordedAnswer): RejectedCall | undefined {
  return answer.outcome === 'rejected' && answer.standing !== undefined ? answer : undefined;
}

function refusalOf(
  { standing, reason, httpStatus, message }: RejectedCall,
  since: string,
): Circuit['refusal'] {
  return { scope: standing ?? 'account', reason, httpStatus: httpStatus ?? null, message, since };
}
