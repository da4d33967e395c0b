import { decisionLines } from '../../packages/cli/src/unconfirmed/run';

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
