import { joinedRows, rowCause, RowReader } from '../../../packages/replay/src/timeline/campaign-rows';
import { shownBy } from '../../../packages/replay/src/timeline/values';
import { createRedactor } from '../../../src/service/redact';

const page = { index: 'i', page: 0 };
const failed = (kind: string, code: string, attempt = 0) => ({
  key: 'film',
  outcome: 'failed',
  errorKind: kind,
  reason: code,
  attempt,
  ledger: [{}],
});

/** Why the one row of a batch is not completed. */
function cause(result: object, { firstAttempt = 0, stop = null as string | null } = {}): string | null {
  const rows = new RowReader(shownBy(createRedactor([])), { batch: 0, settings: { maxAttempts: 2 } });
  rows.opened(page, { specs: [{}], rows: [{ key: 'film', spec: 0, attempt: firstAttempt }] });
  rows.ordered({ stop });
  rows.ended({ ...result });
  const [row] = joinedRows(rows.all());
  return row === undefined ? null : rowCause(row);
}

describe('why a row is not completed', () => {
  it.each(['moderation', 'invalid', 'quota'])(
    '%s with the code of the service: no other attempt is due',
    (kind) => {
      expect(cause(failed(kind, 'some_code'))).toBe(`${kind} (some_code)`);
    },
  );

  it('a lack of capacity, and why there was no further attempt', () => {
    const busy = 'capacity (at_full_load)';
    expect(cause(failed('capacity', 'at_full_load', 1))).toBe(
      `${busy}, no further attempt: the maximum was reached`,
    );
    // Attempts of an earlier plan do not count.
    const resumed = failed('capacity', 'at_full_load', 1);
    expect(cause(resumed, { firstAttempt: 1, stop: 'budget' })).toBe(
      `${busy}, no further attempt: the budget is spent`,
    );
    expect(cause(failed('capacity', 'at_full_load'), { stop: 'cancel' })).toBe(
      `${busy}, no further attempt: the campaign was canceled`,
    );
  });

  it('a rejection has the code of its create', () => {
    const rows = new RowReader(shownBy(createRedactor([])), {});
    rows.opened(page, { specs: [{}], rows: [{ key: 'film', spec: 0 }] });
    const facts = { outcome: 'rejected', reason: 'quota', kind: 'quota', code: 'QuotaExceeded' };
    rows.created(
      { page, index: 0 },
      { text: '', tone: 'bad', facts, outcome: 'rejected', isSent: true },
      null,
    );
    rows.ended({ key: 'film', outcome: 'rejected', reason: 'quota', errorKind: 'quota', ledger: [{}] });
    expect(rows.all().map(rowCause)).toEqual(['quota (QuotaExceeded)']);
  });

  it('no money at all, a file that is gone, and nothing for what is completed', () => {
    expect(cause({ key: 'film', outcome: 'skipped_budget', ledger: [] })).toBe(
      'no attempt: the budget is spent',
    );
    expect(cause({ key: 'film', outcome: 'content_unavailable', reason: 'expired' })).toBe('expired');
    expect(cause({ key: 'film', outcome: 'completed' })).toBeNull();
  });
});
