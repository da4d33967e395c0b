import { Writable } from 'node:stream';
import {
  activeText,
  budgetText,
  countsText,
  moneyTotalsText,
  progressLine,
  resultsText,
} from '../../../packages/cli/src/campaign/text';
import { campaignView, viewLines } from '../../../packages/cli/src/campaign/watch';
import { Report } from '../../../packages/cli/src/shared/report';
import { NO_MONEY } from '../../../src/domain/campaign/results';
import { makePlan, makeState } from './make-state';

const AT = Date.parse('2026-01-01T00:02:00.000Z');
const running = makeState({
  counts: { completed: 4, failed: 1 },
  remaining: 5,
  inFlight: 3,
  money: { ...NO_MONEY, settled: 400_000, reserved: 300_000, unknown: 1 },
  budget: {
    total: { microUnits: 2_000_000, currency: 'USD' },
    spent: 400_000,
    reserved: 300_000,
    review: 0,
    free: 1_300_000,
    over: 0,
  },
  active: [
    {
      key: 'row\u001b[2J-9',
      phase: 'watching',
      taskId: 't',
      status: 'in_progress',
      progress: 40,
      since: '2026-01-01T00:01:50.000Z',
    },
  ],
});

describe('a campaign in words', () => {
  test('[C1.5] money by its state; what has no price is counted and not summed', () => {
    expect(moneyTotalsText(running.money, 'USD')).toBe(
      'settled 0.40 USD, reserved 0.30 USD, 1 attempt without a known price',
    );
    expect(moneyTotalsText(NO_MONEY, null)).toBe('no cost recorded for ended rows');
  });

  test('before anything has ended there is a sentence, and no fragments', () => {
    const early = makeState({ remaining: 100, inFlight: 20, plan: makePlan({ rows: 100 }) });
    expect(progressLine(early)).toBe('No rows have ended yet; 20 of 100 rows are in flight.');
    expect(viewLines(early, AT)[1]).toBe(
      'No rows have ended yet; 20 of 100 rows are in flight. At most 100 at a time.',
    );
    expect(progressLine({ ...early, inFlight: 0, phase: 'paused' })).toBe(
      'No rows have ended yet, and 0 of 100 rows are in flight. Paused: nothing more is created.',
    );
    expect(progressLine({ ...early, phase: 'planning' })).toBe('Reading the manifest.');
  });

  test('results of how many rows', () => {
    expect(resultsText({}, 10)).toBe('0 of 10 rows have a result.');
    expect(resultsText({}, null)).toBe('No rows have a result.');
    expect(resultsText({ completed: 1 }, 1)).toBe('1 row has a result: 1 completed.');
    expect(resultsText({ completed: 4, failed: 1 }, 10)).toBe(
      '5 of 10 rows have a result: 4 completed, 1 failed.',
    );
    expect(resultsText({ completed: 4 }, 3)).toBe('4 rows have a result: 4 completed.');
  });

  test('the parts of a budget, which add up to it', () => {
    const total = { microUnits: 15_000_000, currency: 'USD' };
    const parts = { spent: 5_000_000, reserved: 2_000_000, review: 1_000_000, free: 7_000_000, over: 0 };
    expect(budgetText({ total, ...parts })).toBe(
      '5.00 USD of 15.00 USD spent, 2.00 USD reserved for rows in flight, 1.00 USD under review (may have been charged), 7.00 USD free',
    );
    expect(budgetText({ total, spent: 0, reserved: 0, review: 0, free: 15_000_000, over: 0 })).toBe(
      '0.00 USD of 15.00 USD spent, 15.00 USD free',
    );
  });

  test('counts in the order of the outcomes', () => {
    expect(countsText({ failed: 1, completed: 2, still_running: 3 })).toBe(
      '2 completed, 1 failed, 3 still running',
    );
    expect(countsText({})).toBe('');
  });

  test('a row that is resumed again is one row of the manifest, and not done', () => {
    const again = makeState({ counts: { completed: 5, still_running: 5 }, remaining: 5 });
    expect(progressLine(again)).toMatch(/^5\/10 rows: 5 completed, 5 still running/);
    expect(viewLines(again, AT)[0]).toContain(' 5/10 rows');
    expect(progressLine({ ...again, plan: null })).toMatch(/^10\/15 rows/);
  });

  test('rate and end are told only where the campaign knows them', () => {
    expect(progressLine(running)).toBe(
      '5/10 rows: 4 completed, 1 failed; 3 in flight; settled 0.40 USD, reserved 0.30 USD, 1 attempt without a known price.',
    );
    const known = { ...running, rowsPerMinute: 30, etaAt: '2026-01-01T00:03:00.000Z' };
    expect(progressLine(known)).toMatch(/ 30 rows per minute\. Estimated end: 2026-01-01T00:03:00.000Z\.$/);
    expect(progressLine({ ...running, phase: 'paused' })).toMatch(/ Paused: nothing more is created\.$/);
  });

  test('[C2.2.4] a percentage only where the service sent one; a key moves no cursor', () => {
    const [row] = running.active;
    if (row === undefined) throw new Error('no row');
    expect(activeText(row, AT)).toBe('row?[2J-9  in_progress 40%  10 s');
    const { progress: _progress, ...without } = row;
    expect(activeText(without, AT)).toBe('row?[2J-9  in_progress  10 s');
  });
});

class Screen extends Writable {
  text = '';
  constructor(
    readonly isTTY: boolean,
    readonly columns = 120,
  ) {
    super();
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

describe('a campaign on a screen', () => {
  const { TERM } = process.env;
  beforeAll(() => {
    process.env['TERM'] = 'xterm';
  });
  afterAll(() => {
    if (TERM === undefined) delete process.env['TERM'];
    else process.env['TERM'] = TERM;
  });

  test('a bar of all rows, the money, and a few rows that are under way', () => {
    expect(viewLines(running, AT)).toEqual([
      '████████████░░░░░░░░░░░░ 5/10 rows  2:00',
      '4 completed, 1 failed; 3 in flight; settled 0.40 USD, reserved 0.30 USD, 1 attempt without a known price. At most 100 at a time.',
      'Budget: 0.40 USD of 2.00 USD spent, 0.30 USD reserved for rows in flight, 1.30 USD free.',
      '  row?[2J-9  in_progress 40%  10 s',
    ]);
  });

  test('it is drawn in place, cut at the edge, and gone at the end', () => {
    const screen = new Screen(true, 40);
    const view = campaignView(new Report(), screen as unknown as NodeJS.WriteStream);
    view.update(running);
    view.update(running);
    view.stop();
    const pictures = screen.text.split('\u001b[4A\r\u001b[J');
    expect(pictures).toHaveLength(3);
    expect(pictures[2]).toBe('');
    for (const line of (pictures[0] ?? '').split('\n')) expect([...line].length).toBeLessThan(40);
  });

  test('without a terminal a line where something has changed, and none a moment later', () => {
    const told = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      const view = campaignView(new Report(), new Screen(false) as unknown as NodeJS.WriteStream);
      view.update(running);
      view.update(running);
      view.update({ ...running, remaining: 4 });
      view.update({ ...running, phase: 'paused' });
      view.stop();
      expect(told.mock.calls.map(([text]) => String(text).split(';')[0])).toEqual([
        '5/10 rows: 4 completed, 1 failed',
        '5/10 rows: 4 completed, 1 failed',
      ]);
    } finally {
      told.mockRestore();
    }
  });
});
