import { given } from 'temporal-media/internal/domain/json';
import { type Send } from 'temporal-media/internal/domain/log-entries';
import { fateOf, type SentCall } from './calls';
import {
  type CheckScope,
  type CheckFinding,
  type FindingKind,
  isOfAccount,
  isResubmitted,
  keysOf,
  billedLinesOf,
  mayExplain,
} from './check-judge';
import { type BilledCall, type LooseLine } from './read-invoice';

/** A send that may explain a line. */
interface Candidate {
  readonly creationKey: string;
  readonly sendId: string;
  readonly account: string;
  readonly model: string;
  /** When it was sent, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Whether its reply was lost, and nobody has decided about it. */
  readonly isLost: boolean;
  readonly words: string;
}

/** Candidates that are kept. More lost replies than this have a cause that no invoice explains. */
const MOST_CANDIDATES = 100_000;
/** Candidates compared with a line, and shown beside it. */
const MOST_FITTING = 1_000;
const SHOWN_CANDIDATES = 3;
/** How far apart a send and its line may be. Invoices show the time of the create or of the result. */
const CANDIDATE_MS = 60 * 60 * 1000;

/** The models of a journal's sends, by what they make. */
export class Models {
  private readonly images = new Set<string>();
  private readonly videos = new Set<string>();

  note({ sent: { operation, model } }: Send): void {
    (operation === 'create_video' ? this.videos : this.images).add(model);
  }

  /** Whether a line with this model may be about one of these. */
  mayMake(kind: 'images' | 'videos', model: string | null): boolean {
    const other = kind === 'images' ? this.videos : this.images;
    return model === null || this[kind].has(model) || !other.has(model);
  }
}

/** Remembers which lines of an invoice are explained by sends, and says what the others may be. */
export class LineBook {
  private readonly candidates: Candidate[] = [];
  private readonly models = new Models();
  /** Lines of a second task that was created under a send's key. */
  private readonly secondTasks = new Map<BilledCall, string>();
  /** One string per place, because each line that is known elsewhere keeps one. */
  private readonly places = new Map<string, string>();
  private explained = 0;
  /** Whether the journal has a call that the invoice can be about, whatever its lines say. */
  sawAccount = false;
  /** Whether some lines are about several calls. */
  isUnclear = false;

  constructor(private readonly scope: CheckScope) {}

  /** Whether no line is known to the journal. */
  get sawNone(): boolean {
    return this.explained === 0;
  }

  /** Notes a send. Returns whether lines are about it. @param isOwn whether it is in the checked namespace */
  match(call: SentCall, isOwn: boolean): boolean {
    const { send } = call;
    const { invoice, account, now } = this.scope;
    this.models.note(send);
    const lines = billedLinesOf(invoice, send);
    const isMeant = isOwn && isOfAccount(send, account);
    this.sawAccount ||= isMeant;
    if (isMeant && invoice.byKey.size > 0) this.noteOtherTasks(send, lines);
    if (lines === undefined) {
      if (isMeant && this.candidates.length < MOST_CANDIDATES && mayExplain(call, now))
        this.addCandidate(call);
      return false;
    }
    this.explained += 1;
    if (isMeant) {
      lines.owners += 1;
      this.isUnclear ||= lines.owners > 1;
    } else
      lines.elsewhere ??= this.place(
        isOwn ? `account ${send.sent.account}` : `namespace ${send.sent.namespace}`,
      );
    return isMeant;
  }

  private noteOtherTasks(send: Send, lines: BilledCall | undefined): void {
    for (const key of keysOf(send)) {
      const other = this.scope.invoice.byKey.get(key);
      if (other !== undefined && other !== lines) this.secondTasks.set(other, send.sent.creationKey);
    }
  }

  /** Yields what the lines are that no send explains. */
  *unmatched(): Generator<CheckFinding> {
    this.candidates.sort((one, other) => one.at - other.at);
    for (const call of this.calls()) if (call.owners === 0) yield this.foreign(call);
    for (const line of this.scope.invoice.loose)
      yield this.lineFinding(!this.models.mayMake('videos', line.model) ? 'image' : 'without_task', line, '');
  }

  private *calls(): Generator<BilledCall> {
    const { byTask, byKey } = this.scope.invoice;
    yield* byTask.values();
    for (const call of byKey.values()) if (call.taskId === null) yield call;
  }

  private foreign(call: BilledCall): CheckFinding {
    const { elsewhere } = call;
    if (elsewhere !== null) {
      const kind = elsewhere.startsWith('account ') ? 'other_account' : 'other_namespace';
      return this.lineFinding(kind, call, `It was bought in ${elsewhere}.`);
    }
    if (!this.models.mayMake('videos', call.model)) return this.lineFinding('image', call, '');
    const second = this.secondTasks.get(call);
    if (second !== undefined)
      return this.lineFinding('unknown', call, `It has the key of ${second}, which bought another task.`);
    const fitting = this.candidatesFor(call);
    const words = fitting.map(({ creationKey, words: what }) => `${what} ${creationKey}`);
    return {
      ...this.lineFinding('unknown', call, words.length === 0 ? '' : `Perhaps ${words.join(', or ')}.`),
      ...given({
        candidates:
          fitting.length === 0
            ? undefined
            : fitting.map(({ creationKey, sendId }) => ({ creationKey, sendId })),
      }),
    };
  }

  /** Returns the sends that a line may be about: lost replies first, then the nearest ones. */
  private candidatesFor({ at, model }: BilledCall): readonly Candidate[] {
    if (at === null) return [];
    // The time of a line may be a date.
    const until = at + (at % DAY_MS === 0 ? DAY_MS : 0) + CANDIDATE_MS;
    const fitting: Candidate[] = [];
    for (
      let index = firstSince(this.candidates, at - CANDIDATE_MS);
      fitting.length < MOST_FITTING;
      index += 1
    ) {
      const candidate = this.candidates[index];
      if (candidate === undefined || candidate.at > until) break;
      if (model === null || model === candidate.model) fitting.push(candidate);
    }
    const distance = (one: Candidate): number => Math.abs(one.at - at) + (one.isLost ? 0 : END_OF_TIME);
    return fitting.sort((one, other) => distance(one) - distance(other)).slice(0, SHOWN_CANDIDATES);
  }

  private addCandidate(call: SentCall): void {
    const { creationKey, nonce: sendId, account, model, at } = call.send.sent;
    const fate = fateOf(call, this.scope.now);
    const isUnknown = fate === 'unconfirmed' || fate === 'in_flight';
    const isLost = isUnknown && !isResubmitted(call.send);
    const words = isLost
      ? 'the lost reply of'
      : isUnknown
        ? 'the resubmitted call'
        : fate === 'rejected'
          ? 'the refused call'
          : 'the call declared lost';
    this.candidates.push({ creationKey, sendId, account, model, at: Date.parse(at), isLost, words });
  }

  private place(text: string): string {
    const known = this.places.get(text) ?? text;
    this.places.set(text, known);
    return known;
  }

  private lineFinding(finding: FindingKind, line: LooseLine | BilledCall, note: string): CheckFinding {
    const { at, model, sum: microUnits } = line;
    return {
      ...{ finding, line: line.line, taskId: 'taskId' in line ? (line.taskId ?? line.key) : null },
      ...{ creationKey: null, sendId: null, account: null, model },
      at: at === null ? null : new Date(at).toISOString(),
      billed: { microUnits, currency: this.scope.invoice.currency },
      ...{ expected: null, note },
    };
  }
}

const DAY_MS = 86_400_000;
const END_OF_TIME = 8.64e15;

/** Returns the index of the first candidate at or after a time. */
function firstSince(candidates: readonly Candidate[], time: number): number {
  let [low, high] = [0, candidates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((candidates[middle] as Candidate).at < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
