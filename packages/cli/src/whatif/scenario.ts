import { type EntryKind, type Timeline } from '@temporal-media/replay';
import { textOf } from '@temporal-media/replay/internal/timeline/values';
import { type FaultRule, type SandboxOperation } from '@temporal-media/sandbox';
import { type CreatePolicy } from 'temporal-media';
import { WORKFLOW } from 'temporal-media/internal/domain/names';
import { DEFAULT_WAIT_MS } from 'temporal-media/internal/domain/timeouts';
import { phaseOf } from 'temporal-media/internal/service/video-record';
import { createFaults } from './create-faults';
import { outcomeType } from './scenario-part';
import { downloadFaults, pollFaults } from './task-faults';

/**
 * The `data` that `replay --whatif` returns: what a history shows, and the result of the same faults against the
 * sandbox.
 */
export interface WhatIfReport {
  readonly v: 1;
  /** The history's timeline. */
  readonly original: Timeline;
  /** The local run's timeline. */
  readonly local: Timeline;
  /** The history's faults, as passed to the sandbox. */
  readonly scenario: Scenario;
  /** Descriptions of what the history shows but the local run does not. */
  readonly notPlayed: readonly string[];
  /** Outcomes as named in the failure table, such as `content_unavailable/expired`. */
  readonly outcome: {
    /** Null for an open history. */
    readonly original: string | null;
    readonly local: string | null;
    /** Null if the history has no outcome to compare with. */
    readonly same: boolean | null;
  };
  /** The paid requests that the sandbox counted. */
  readonly paid: { readonly received: number; readonly accepted: number };
  /** The test that was written. Null without `--save-test`. */
  readonly savedTest: string | null;
}

/** What the sandbox, a worker and a person must do to reproduce a history. */
export interface Scenario {
  /** The factor by which service-requested waits and unchanged polls are reduced. */
  readonly speed: number;
  /** How long a video is queued and runs, in milliseconds. The faults determine what its polls show. */
  readonly timing: { readonly queuedMs: number; readonly runningMs: number };
  /** Minimal records do not contain a file URL, so each download contacts only one endpoint. */
  readonly records: 'minimal' | 'full';
  /** Sandbox rules, in the order in which they apply. */
  readonly faults: readonly FaultRule[];
  /** People's decisions about creates with an unknown outcome, in order. */
  readonly decisions: readonly ScenarioDecision[];
  /** Statuses that the operator vouched for, inferred from the answers. Empty for the strict default. */
  readonly policy: CreatePolicy;
  /** How long to wait for the video, in milliseconds. Null for the default. */
  readonly waitForMs: number | null;
  /** Descriptions of what the history shows but the sandbox cannot reproduce. */
  readonly notPlayed: readonly string[];
}

/** The Update that carries out a decision. */
export type ScenarioDecision = 'adopt' | 'declareLost' | 'resubmit';

const DECISIONS: readonly string[] = ['adopt', 'declareLost', 'resubmit'] satisfies ScenarioDecision[];

const PAID: { readonly [workflowType: string]: SandboxOperation } = {
  [WORKFLOW.generateVideo]: 'create',
  [WORKFLOW.generateImage]: 'generate',
  [WORKFLOW.editImage]: 'edit',
};

/** Rule for an adoption, which reads the task's record before the first poll. */
const READ_FOR_ADOPTION: FaultRule = {
  operation: 'poll',
  action: { type: 'record', patch: { status: 'queued' } },
};

/** Names for entries that are not service faults, so the sandbox cannot reproduce them. */
const NOT_OF_THE_SERVICE: { readonly [kind in EntryKind]?: string } = {
  reset: "the workflow's reset",
  cancel_requested: 'the cancellation',
  task_failure: 'workflow tasks that failed or timed out',
  reconcile: "what the journal or the service's task records proved about a create",
  watch: "a watcher's polls: failed polls are in the watcher's history",
  nudge: 'a nudge',
};

/**
 * Derives a scenario from a timeline. The function is pure: the same timeline always produces the same scenario.
 * @param speed at least 1
 */
export function scenarioOf(timeline: Timeline, speed: number): Scenario {
  const { entries } = timeline;
  const paid = PAID[timeline.workflowType] ?? 'create';
  const creates = createFaults(timeline, paid, speed);
  const polls = pollFaults(timeline, speed);
  const downloads = downloadFaults(timeline, speed);
  const decisions = entries
    .filter(({ kind, facts }) => kind === 'decision' && facts['resolved'] === true)
    .map(({ facts }) => textOf(facts['decision']) ?? '')
    .filter((name): name is ScenarioDecision => DECISIONS.includes(name));
  const refused = entries.some(({ kind, facts }) => kind === 'decision' && facts['resolved'] === false);
  const notPlayed = [
    ...creates.notPlayed,
    ...polls.notPlayed,
    ...downloads.notPlayed,
    ...entries.flatMap(({ kind }) => NOT_OF_THE_SERVICE[kind] ?? []),
    ...(refused ? ['a decision that was rejected'] : []),
    ...(isRefusedUnseen(timeline) ? ['a request that was rejected before it was sent'] : []),
  ];
  return {
    speed,
    timing: { queuedMs: isCompletedAtOnce(timeline) ? 0 : 1, runningMs: 0 },
    records: downloads.faults.length > 0 ? 'minimal' : 'full',
    faults: [
      ...creates.faults,
      ...decisions.flatMap((decision) => (decision === 'adopt' ? [READ_FOR_ADOPTION] : [])),
      ...polls.faults,
      ...downloads.faults,
    ],
    decisions,
    policy: creates.policy,
    waitForMs: waitFor(timeline, speed),
    notPlayed: [...new Set(notPlayed)],
  };
}

/** Whether the workflow rejected the request before running any activity. */
const isRefusedUnseen = ({ outcome, entries }: Timeline): boolean =>
  outcome === 'rejected' && !entries.some(({ kind }) => kind === 'create' || kind === 'image');

function isCompletedAtOnce({ entries }: Timeline): boolean {
  const created = entries.find(({ facts }) => facts['outcome'] === 'created');
  return phaseOf(textOf(created?.facts['status']) ?? '') === 'completed';
}

/** Minimum length of a shortened wait, in milliseconds. It leaves time for some polls. */
const SHORTEST_WAIT_MS = 30_000;

/** Returns the wait. It is shortened only if it ended before the video did. */
function waitFor(timeline: Timeline, speed: number): number | null {
  const given = timeline.entries.find(({ kind }) => kind === 'started')?.facts['waitFor'];
  const ms = typeof given === 'number' ? given : null;
  if (outcomeType(timeline) !== 'still_running') return ms;
  const whole = ms ?? DEFAULT_WAIT_MS;
  return Math.max(Math.min(whole, SHORTEST_WAIT_MS), Math.ceil(whole / speed));
}
