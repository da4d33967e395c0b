import { type Timeline } from '@temporal-media/replay';
import { type Scenario } from './scenario';

/** `data` of `replay --whatif`: what a history shows, and what became of the same faults against the sandbox. */
export interface WhatIfReport {
  readonly v: 1;
  /** The story of the history. */
  readonly original: Timeline;
  /** The story of the local run. */
  readonly local: Timeline;
  /** The faults that the history shows, as the sandbox was given them. */
  readonly scenario: Scenario;
  /** What the history shows and the local run does not have, in words. */
  readonly notPlayed: readonly string[];
  /** Outcomes as the table of failures names them, such as `content_unavailable/expired`. */
  readonly outcome: {
    /** Null for a history without an end. */
    readonly original: string | null;
    readonly local: string | null;
    /** Null where the history has no outcome to compare with. */
    readonly same: boolean | null;
  };
  /** What the sandbox counted of paid requests. */
  readonly paid: { readonly received: number; readonly accepted: number };
  /** The test that was written; null without `--save-test`. */
  readonly savedTest: string | null;
}
