import fc from 'fast-check';
import {
  caseMoney,
  type CaseFacts,
  type ExecutionView,
  type StandaloneCall,
} from '../../packages/cli/src/shared/case';
import { adviceOf } from '../../packages/cli/src/shared/case-advice';
import { decisionInForce } from '../../src/domain/closed-call';
import { type BillEntry } from '../../src/domain/log-entries';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { outcomes } from '../../src/domain/outcome';
import { type DecidedEntry } from '../../src/domain/unconfirmed-decision';
import { type VideoState } from '../../src/domain/video-state';
import { pollFacts } from '../../src/domain/watch-state';
import { answers } from '../domain/create-answers';
import { billEntry, intentEntry } from '../support/log-entries';

/** Every combination of what can be known of a call: the advice is one that the commands carry out. */
describe('the advice on a case', () => {
  const SEND = 'send-0';
  const evidence = (() => {
    const answer = answers.unconfirmed(0);
    return { ...answer, evidence: { ...answer.evidence, sendId: SEND } };
  })();
  const { video } = answers.created(0);
  const view = (status: string, type: string): ExecutionView => ({
    ...{ workflowId: 'order-1', runId: 'r', type, status, taskQueue: 'q', url: null, historyLength: 9 },
    ...{ startedAt: '2026-01-01T00:00:00.000Z', closedAt: null, pendingActivities: [], pause: null },
  });
  const OPEN = ['RUNNING', 'PAUSED'];
  const stateIn = (phase: VideoState['phase']): VideoState => ({
    ...{ phase, creationKey: 'order-1', taskId: null, video: null, outcome: null, sends: 1 },
    ...{ estimate: null, deadlineAt: null, nextPollAt: null, nextCreateAt: null, waitingFor: null },
    ...pollFacts(undefined),
  });
  const pauseIf = (paused: boolean) =>
    paused ? { by: 'ada', at: null, reason: 'a look around', isRequested: false } : null;
  const activity: fc.Arbitrary<StandaloneCall | null> = fc.option(
    fc.record({
      ...{ type: fc.constant(ACTIVITY.generateImage), activityId: fc.constant('order-1') },
      ...{ attempt: fc.constant(1), lastFailure: fc.constant(null), runId: fc.constant('r') },
      failureClass: fc.constantFrom(null, 'storage'),
      ...{ queuedOn: fc.constant(null), waits: fc.constant(null) },
      pause: fc.boolean().map(pauseIf),
      status: fc.constantFrom(...OPEN, 'COMPLETED', 'TERMINATED', 'FAILED', 'TIMED_OUT', 'CANCELED'),
      ...{ taskQueue: fc.constant('q'), startedAt: fc.constant('2026-01-01T00:00:00.000Z') },
      ...{ closedAt: fc.constant(null), nextAttemptAt: fc.constant(null) },
    }),
    { nil: null },
  );
  const workflow = fc.option(
    fc
      .tuple(
        fc.constantFrom(...OPEN, 'COMPLETED', 'TERMINATED', 'FAILED', 'TIMED_OUT', 'CANCELLED'),
        fc.constantFrom(...Object.values(WORKFLOW), 'theirs'),
        fc.boolean(),
      )
      .map(([status, type, paused]) => ({
        ...view(status, type),
        pendingActivities: [
          {
            type: 'a',
            activityId: '1',
            attempt: 1,
            lastFailure: null,
            failureClass: null,
            ...{ queuedOn: null, waits: null },
            pause: pauseIf(paused),
          },
        ],
      })),
    { nil: null },
  );
  const decision: fc.Arbitrary<DecidedEntry> = fc.record({
    ...{ creationKey: fc.constant('order-1'), sendAttempt: fc.constant(0), by: fc.constant('ada') },
    sendId: fc.constantFrom(SEND, 'another send'),
    decision: fc.constantFrom('adopt' as const, 'declareLost' as const, 'resubmit' as const),
    reason: fc.constant('looked'),
    at: fc.constant('2026-01-02T00:00:00.000Z'),
    taskId: fc.constantFrom(null, 'task-1'),
  });
  const outcome: fc.Arbitrary<CaseFacts['outcome']> = fc.constantFrom<CaseFacts['outcome']>(
    null,
    outcomes.unconfirmed(evidence, 'order-1'),
    outcomes.rejected(answers.rejected(0, 'capacity'), 'order-1', 1),
    outcomes.cancelled(video, 'order-1', {} as never),
  );
  const facts: fc.Arbitrary<CaseFacts> = fc
    .record({
      ...{ workflow, activity, outcome, decisions: fc.array(decision, { maxLength: 3 }) },
      video: fc.constantFrom(null, video),
      held: fc.constantFrom(null, 'Its code fails.'),
      hasWorker: fc.constantFrom(null, true, false),
      unserved: fc.constantFrom(null, 'nowhere'),
      phase: fc.constantFrom(null, 'creating' as const, 'unconfirmed' as const, 'watching' as const),
    })
    // One execution handles the call, and only one that has completed has an outcome.
    .filter(({ workflow: flow, activity: act }) => flow === null || act === null)
    .filter(
      ({ workflow: flow, activity: act, outcome: result }) =>
        result === null || (flow ?? act)?.status === 'COMPLETED',
    )
    .map(({ phase, ...known }) => ({
      ...{
        id: 'order-1',
        foundBy: 'workflow_id',
        otherWorkflows: [],
        earlierRuns: [],
        creationKey: 'order-1',
      },
      ...{ service: null, calls: [], estimate: null, ...known },
      state: phase === null ? null : stateIn(phase),
    }));

  const isOpenCase = ({ workflow: flow, activity: act }: CaseFacts): boolean =>
    OPEN.includes((flow ?? act)?.status ?? '');

  it('[C4.4c] is never a decision that stands, nor to resume or start what goes on, nor to buy what has a task', () => {
    fc.assert(
      fc.property(facts, (known) => {
        const { step, text } = adviceOf(known, (word) => word);
        const isOpen = isOpenCase(known);
        const stands = decisionInForce(known.outcome, known.decisions);
        // The decisions of an open workflow reach it at once: it waits for none that has been taken.
        if (stands !== undefined && !isOpen) expect(step).not.toBe('decide');
        if (isOpen) expect(['resume', 'start_again']).not.toContain(step);
        if (step === 'decide')
          expect(isOpen ? known.state?.phase : known.outcome?.outcome).toBe('unconfirmed');
        if (step === 'start_again' && stands === undefined)
          expect([known.video, known.outcome]).toEqual([null, null]);
        if (step === 'start_again' && stands !== undefined) expect(stands.decision).toBe('resubmit');
        if (step === 'unpause') expect(isOpen).toBe(true);
        expect(text).toMatch(/\w.*[.`]$/s);
      }),
      { numRuns: 2_000 },
    );
  });

  it('[C7.10] calls nothing free that may have been sent, and reserves only for what goes on', () => {
    fc.assert(
      fc.property(facts, (known) => {
        const execution = known.workflow ?? known.activity;
        const isRunning =
          execution !== null && OPEN.includes(execution.status) && known.state?.phase !== 'unconfirmed';
        const money = caseMoney(known);
        if (known.outcome === null && money !== null)
          expect(money.state).toBe(isRunning ? 'reserved' : 'needs_review');
        if (known.outcome !== null) return void expect(money?.state).toBe(known.outcome.billing.state);
        expect(money?.state).not.toBe('none');
        // Closing a workflow takes no money away.
        const { workflow } = known;
        const closed = caseMoney({ ...known, workflow: workflow && { ...workflow, status: 'TERMINATED' } });
        expect(closed === null).toBe(money === null);
      }),
      { numRuns: 2_000 },
    );
  });

  it('says what was billed under the key, in one currency', () => {
    const known = fc.sample(facts, { numRuns: 50, seed: 1 }).find((one) => caseMoney(one) !== null)!;
    const send = { sent: intentEntry(), answer: null, decision: null };
    const actual = (...bills: readonly (BillEntry | null)[]) =>
      caseMoney(
        known,
        bills.map((bill) => ({ ...send, bill })),
      )?.actual;
    expect([actual(), actual(null), caseMoney(known)?.actual]).toEqual([null, null, null]);
    const credit = billEntry({ microUnits: -100_000 });
    expect(actual(billEntry(), null, credit)).toEqual({ microUnits: 250_000, currency: 'USD' });
    expect(actual(billEntry({ microUnits: 0 }))).toEqual({ microUnits: 0, currency: 'USD' });
    expect(actual(billEntry(), billEntry({ currency: 'EUR' }))).toBeNull();
  });

  it('of a decision about another send leaves the open one to be decided', () => {
    const other = { ...fc.sample(decision, { numRuns: 1, seed: 1 })[0]!, sendId: 'another send' };
    const open = outcomes.unconfirmed(evidence, 'order-1');
    expect(decisionInForce(open, [other])).toBeUndefined();
    expect(decisionInForce(open, [{ ...other, sendId: SEND }])?.sendId).toBe(SEND);
  });
});
