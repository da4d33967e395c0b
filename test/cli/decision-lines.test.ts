import { type Connected } from '../../packages/cli/src/shared/connect';
import { Report } from '../../packages/cli/src/shared/report';
import { decideUnconfirmed, decisionLines } from '../../packages/cli/src/unconfirmed/run';
import { evidence } from '../../src/domain/paid-call';
import { type UnconfirmedEntry } from '../../src/domain/unconfirmed-decision';

describe('the commands that settle a call of unknown fate', () => {
  const call = {
    creationKey: 'order-1',
    sendId: 'a-send',
    hasTask: false,
    estimate: { microUnits: 40_000, currency: 'USD' },
    actual: null,
  };

  it('[C7.10] never say of lost results that nothing was accepted or that they cost nothing', () => {
    const text = decisionLines({ ...call, isPaid: true, fetchable: false }).join('\n');
    expect(text).not.toMatch(/nothing was accepted|costs nothing/);
    expect(text).toMatch(/still pay for it/);
    expect(text).toMatch(/in addition to the paid call/);
  });

  it('[C7.10] say first of paid results that can still be had that the same id fetches them and sends nothing', () => {
    const [first, second] = decisionLines({ ...call, isPaid: true, fetchable: true });
    expect(first).toMatch(/is paid for, but its results are lost/);
    expect(second).toMatch(/same id\. .* the results are fetched and nothing is sent/);
    expect(decisionLines({ ...call, isPaid: true, fetchable: false }).join()).not.toMatch(
      /fetched|fate|task/,
    );
  });

  it('say of a lost reply what a second send may cost, and offer an adoption only where there is a task', () => {
    const text = decisionLines({ ...call, isPaid: false, fetchable: false }).join('\n');
    expect(text).toMatch(/twice that if the first was accepted/);
    expect(text).not.toMatch(/adopt/);
    expect(decisionLines({ ...call, hasTask: true, isPaid: false, fetchable: false }).join('\n')).toMatch(
      /adopt .*order-1 TASK/,
    );
  });

  it('say of a billed send that it was probably accepted, never that it costs nothing', () => {
    const actual = { microUnits: 350_000, currency: 'USD' };
    const text = decisionLines({ ...call, actual, isPaid: false, fetchable: false }).join('\n');
    expect(text).toMatch(/^0\.35 USD was billed for this send/);
    expect(text).not.toMatch(/costs nothing|not accepted|twice/);
    expect(text).toMatch(/its bill of 0\.35 USD counts/);
    expect(text).toMatch(/costs an estimated 0\.04 USD in addition to 0\.35 USD/);
  });
});

describe('a bill of 0 or a credit', () => {
  const call = { creationKey: 'order-1', sendId: 'a-send', hasTask: true, estimate: null, fetchable: false };

  it.each([
    [0, '0.00 USD'],
    [-100_000, '-0.10 USD'],
  ])('of %d micro-units is not a sign that a lost reply was accepted', (microUnits, text) => {
    const actual = { microUnits, currency: 'USD' };
    const lines = decisionLines({ ...call, actual, isPaid: false });
    expect(lines[0]).toMatch(/^Use the evidence/);
    expect(lines.join('\n')).toContain(`it was not accepted; its bill of ${text} counts`);
    expect(lines.at(-1)).toMatch(/or twice that if the first was accepted after all/);
    const paid = decisionLines({ ...call, hasTask: false, actual, isPaid: true }).join('\n');
    expect(paid).not.toMatch(/still pay|the paid call/);
    expect(paid).toContain(`in addition to ${text}`);
  });
});

describe('a decision about a named send', () => {
  const entry = (sendId: string, microUnits: number | null): UnconfirmedEntry => ({
    ...{ creationKey: 'order-1', sendAttempt: 0, operation: 'create_video', state: 'unconfirmed' },
    evidence: { ...evidence('http_502', { httpStatus: 502 }), sendId },
    ...{ estimate: null, workflowId: null, runId: null, fetchable: false },
    actual: microUnits === null ? null : { microUnits, currency: 'USD' },
  });
  const page = { created: [], decided: [], scanned: 1, next: null };
  const resolveUnconfirmed = jest.fn(() =>
    Promise.resolve({ resolved: true, message: 'It was declared lost.' }),
  );
  const connectedTo = (...unconfirmed: readonly UnconfirmedEntry[]): Connected =>
    ({
      hasWorker: () => Promise.resolve(true),
      media: { reviewJournal: () => Promise.resolve({ ...page, unconfirmed }), resolveUnconfirmed },
    }) as unknown as Connected;
  const decide = (connected: Connected, decision: 'resubmit' | 'declareLost', sendId: string) =>
    decideUnconfirmed({ env: {}, report: new Report('json'), exitCode: 0 }, connected, {
      ...{ creationKey: 'order-1', sendId, decision, by: 'ada', reason: 'r', yes: false },
    });
  let said = '';

  beforeEach(() => {
    said = '';
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
  });
  afterEach(() => jest.restoreAllMocks());

  it('asks before a resubmission about the bill of that send', async () => {
    const connected = connectedTo(entry('first', 120_000), entry('second', 0), entry('third', 350_000));
    await expect(decide(connected, 'resubmit', 'first')).rejects.toThrow(/was billed 0\.12 USD/);
    await expect(decide(connected, 'resubmit', 'second')).rejects.toThrow(/may have been accepted/);
    await expect(decide(connected, 'resubmit', 'third')).rejects.toThrow(/was billed 0\.35 USD/);
    expect(resolveUnconfirmed).not.toHaveBeenCalled();
  });

  it('says whether the bill of that send counts', async () => {
    const connected = connectedTo(entry('first', 120_000), entry('second', null), entry('third', 350_000));
    await decide(connected, 'declareLost', 'third');
    expect(said).toContain('Its bill of 0.35 USD still counts');
    said = '';
    await decide(connected, 'declareLost', 'second');
    expect(said).not.toContain('still counts');
  });
});
