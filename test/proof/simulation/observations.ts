import { type SettledCreate } from '../../../src/domain/create-once';
import { type AnswerEntry } from '../../../src/domain/log-entries';
import { type JournalChange } from '../../support/changed-journal';

/** One request that reached the wire: its first byte left. */
export interface Send {
  readonly key: string;
  /** Which journal its intent stands in. */
  readonly journal: number;
  /** Place of its intent in the log of its key: the licence to send once. */
  readonly place: number;
  readonly nonce: string;
  /** The create activity that sent it. */
  readonly sender: string;
  readonly runId: string;
  readonly prompt: string;
  readonly at: number;
  /** When its attempt began. */
  readonly startedAt: number;
  /** What its header carried; null where the service is not vouched to honour keys. */
  readonly idempotencyKey: string | null;
  /** It wrote no intent: one under its idempotency key was there before. */
  readonly isRepetition: boolean;
}

export interface Accepted {
  readonly send: Send;
  readonly taskId: string;
}

/** A reply that named a time before which nothing may be sent. */
export interface Refusal {
  readonly key: string;
  readonly journal: number;
  readonly status: number;
  readonly at: number;
  readonly until: number;
  /** The send has no intent of its own, so that no record of its reply is kept. */
  readonly ofRepetition: boolean;
  /** Whether its sender read the reply: what a worker that is gone was asked, nobody knows. */
  heard: boolean;
  /** Whether the send may be repeated under its key, although nobody knows what became of it. */
  readonly mayBeRepeated: boolean;
}

/** What a workflow, or a person who asked, was told. */
export interface Told {
  readonly key: string;
  readonly prompt: string;
  readonly runIds: readonly string[];
  readonly at: number;
  readonly answer: SettledCreate | { readonly outcome: 'cancelled'; readonly mayBeOwed: boolean };
}

/** Everything that happened in one schedule as an outside observer sees it; the invariants read nothing else. */
export class Observations {
  readonly sends: Send[] = [];
  readonly accepted: Accepted[] = [];
  readonly refusals: Refusal[] = [];
  readonly told: Told[] = [];
  /** Answers of which a journal said that they are durable. */
  recorded: { readonly key: string; readonly record: AnswerEntry }[] = [];
  /** Sends that somebody looked into and wanted sent once more. */
  readonly resubmits = new Set<string>();
  /** Sends that the task records let be made once more. */
  private readonly absent = new Set<string>();
  /** Create activities of which a reconciliation said that they never send. */
  readonly fenced = new Set<string>();
  /** Decisions to send once more that count, by creation key. */
  readonly authorised: { readonly key: string; readonly at: number }[] = [];
  /** Creation keys with a task that a person named, or a create that a person gave up. */
  readonly decided = new Set<string>();
  /** Tasks that a decision names. */
  readonly adopted: { readonly key: string; readonly taskId: string }[] = [];
  readonly failures: string[] = [];
  kills = 0;
  freezes = 0;
  standalone = 0;
  journalFaults = 0;
  beatFaults = 0;
  readonly journals: Record<JournalChange, number> = { lost: 0, restored: 0, rebound: 0 };
  /** Calls that a rebind wrote into the next journal. */
  kept = 0;
  /** Notes of a send whose intent is lost, which do not say what it asked for. */
  notes = 0;
  lateCompletions = 0;
  recovered = 0;

  /** Whether a decision to send once more counts: one for each send that was looked into. */
  mayResubmit(about: string, by: string): boolean {
    if (by !== 'task records') return this.resubmits.delete(about);
    const isNew = !this.absent.has(about);
    this.absent.add(about);
    return isNew;
  }
}
