import { type ArtifactStore } from 'temporal-media/stores';
import { type ArtifactRef } from 'temporal-media';
import { type TemporalMediaClient } from 'temporal-media/client';
import { type RunningChild } from '../child-process';

/** What a demo case works with. */
export interface DemoEnvironment {
  /** Makes ids of this run. */
  readonly id: (name: string) => string;
  /** The task queue that is served all the time. */
  readonly media: TemporalMediaClient;
  /** A task queue with a journal of its own, whose worker a case starts and kills. */
  readonly fragile: FragileQueue;
  /** Where that queue keeps its artifacts. */
  readonly store: ArtifactStore;
  /** Two image files of the user, in the artifact store. */
  readonly inputs: readonly [ArtifactRef, ArtifactRef];
  /** Accepted paid calls with exactly this prompt, as the sandbox counted them. */
  readonly accepted: (prompt: string) => Promise<number>;
  readonly say: (line: string) => void;
}

export interface FragileQueue {
  readonly media: TemporalMediaClient;
  readonly startWorker: () => Promise<RunningChild<object>>;
  /** Resolves when the journal holds the answer to a create; rejects after a minute without. */
  readonly answerRecorded: () => Promise<void>;
  /** Types of the activities that a workflow has scheduled. */
  readonly activitiesOf: (workflowId: string) => Promise<readonly string[]>;
}

/** The result of a case. */
export interface DemoResult {
  /** Outcomes in order, as the table of expectations has them. */
  readonly seen: string;
  /** Further facts to print. */
  readonly notes: readonly string[];
  /** Results to save and to verify. */
  readonly artifacts?: readonly ArtifactRef[];
}

/** One row of the table of expectations. */
export interface DemoCase {
  /** Also the base name of its files. */
  readonly name: string;
  /** What it shows, and why the outcome is the right one. */
  readonly why: string;
  readonly expected: string;
  /** Video creates and image calls that the sandbox must have accepted for it. */
  readonly paid: { readonly creates: number; readonly images: number };
  readonly run: (environment: DemoEnvironment) => Promise<DemoResult>;
}
