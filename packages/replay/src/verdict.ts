import { type CommandView } from './history-commands';
import { type SourceLocation } from './source-location';

/** Who wrote a history, as far as it says so. */
export interface WrittenBy {
  /** `temporal-typescript 1.24.0`; null for a history whose first workflow task no worker has completed. */
  readonly sdk: string | null;
  /** Build id of the worker of the last completed workflow task; with the SDK's default it ends with a digest of the code. */
  readonly build: string | null;
  /** Worker deployment version, where workers are versioned: `media.2026-11-25`. */
  readonly deployment: string | null;
  /** Version of this package that started the workflow; null where another client did. */
  readonly package: string | null;
}

/** Where today's code parts from a history. */
export interface Divergence {
  /** The first event that the code does not lead to; null where the history has no event for what the code does. */
  readonly event: ({ readonly eventId: number; readonly eventType: string } & CommandView) | null;
  /** What the code did in its place; null where it did nothing. */
  readonly produced: CommandView | null;
  /** Where the code did that; else where it issued the last command that agrees. Innermost first, empty if unknown. */
  readonly at: readonly SourceLocation[];
  /** Whether `at` is the place of `produced`, and not of the command before it. */
  readonly atProduced: boolean;
  /** What the SDK says. */
  readonly detail: string;
}

/** A paid command whose input is another one than in the history. */
export interface InputDifference {
  /** The event whose input differs. */
  readonly event: { readonly eventId: number; readonly eventType: string } & CommandView;
  /** Paths in its input, such as `request.prompt`; no values. */
  readonly fields: readonly string[];
  /** Where the code issues it. Innermost first, empty if unknown. */
  readonly at: readonly SourceLocation[];
}

/** How the replay of one run ended. */
export type Verdict =
  /** Every command is the one of the history, as far as the history goes. */
  | { readonly verdict: 'identical'; readonly writtenBy: WrittenBy }
  /** The same commands, and some that pay have other inputs: what is bought differs. */
  | {
      readonly verdict: 'inputs_differ';
      readonly writtenBy: WrittenBy;
      readonly differences: readonly InputDifference[];
    }
  | { readonly verdict: 'diverges'; readonly writtenBy: WrittenBy; readonly divergence: Divergence }
  /** The code throws where the workflow went on: a worker would retry the workflow task for ever. */
  | {
      readonly verdict: 'fails';
      readonly writtenBy: WrittenBy;
      readonly message: string;
      readonly at: readonly SourceLocation[];
    }
  /** Nothing to compare: another SDK wrote it, the code has no such workflow, or no workflow task is completed yet. */
  | {
      readonly verdict: 'not_replayed';
      readonly writtenBy: WrittenBy;
      readonly reason: 'other_sdk' | 'unknown_workflow' | 'not_started';
    };
