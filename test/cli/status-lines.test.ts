import { statusLines, type VideoStatus } from '../../packages/cli/src/status/run';
import { outcomes } from '../../src/domain/outcome';
import { answers } from '../domain/create-answers';

describe('what people read of a call that has ended', () => {
  const linesOf = (outcome: VideoStatus['outcome']): string[] =>
    statusLines(
      {
        id: 'order-1',
        foundBy: 'workflow_id',
        workflow: null,
        activity: null,
        otherWorkflows: [],
        video: null,
        labels: null,
        creationKey: 'order-1',
        state: null,
        outcome,
        service: null,
        decisions: [],
        earlierRuns: [],
        calls: [],
        held: null,
        hasWorker: true,
        unserved: null,
        estimate: null,
        money: { state: 'none', estimate: null, actual: null },
        safe: 'Correct the request.',
        notes: [],
      },
      (_, text) => text,
    );

  it('is why it was refused, our words and what the service gave of its own', () => {
    const notBefore = '2026-01-01T00:00:00.000Z';
    const answer = {
      ...answers.rejected(0, 'quota'),
      message: 'The service refused the request.',
      error: { kind: 'quota' as const, code: 'no_balance', message: null },
      httpStatus: 402,
      notBefore,
    };
    expect(linesOf(outcomes.rejected(answer, 'order-1', 1))).toEqual(
      expect.arrayContaining([
        'Outcome:     rejected/quota',
        'Reason:      The service refused the request.',
        'Reason:      service message: (code no_balance, HTTP 402)',
        `Not before:  ${notBefore}`,
      ]),
    );
  });

  it('is the field that was wrong, with what is allowed', () => {
    const answer = { ...answers.rejected(0, 'invalid_request'), message: 'is wrong.', field: 'size' };
    const lines = linesOf(outcomes.rejected({ ...answer, allowed: ['a', 'b'] }, 'order-1', 0));
    expect(lines).toContain('Reason:      --size: is wrong. Allowed: a, b.');
  });
});
