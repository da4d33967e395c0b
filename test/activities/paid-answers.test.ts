import { failureAnswer } from '../../src/activities/paid-answers';
import { intentEntry } from '../support/log-entries';

const base = { sendAttempt: 0, sent: true, account: null, estimate: null };
const error = { kind: 'quota', code: null, message: null } as const;

describe('what a refusal keeps', () => {
  it('[C8.7] the time before which nothing may be sent, also when this run ends with it', () => {
    const refused = { class: 'rejected', reason: 'quota', httpStatus: 429, error, message: 'no' } as const;
    const before = Date.now();
    const answer = failureAnswer({ ...refused, retryAfterMs: 60_000 }, base, intentEntry());
    if (answer.outcome !== 'rejected' || answer.notBefore === undefined) throw new Error('no time was kept');
    expect(Date.parse(answer.notBefore)).toBeGreaterThanOrEqual(before + 60_000);
    expect(failureAnswer(refused, base, intentEntry())).not.toHaveProperty('notBefore');
  });
});
