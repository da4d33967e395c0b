import fc from 'fast-check';
import { type BindRequest, differenceOf, type Ledger, nextLedger } from '../../src/domain/journal-binding';
import { provesNotSent, heartbeatOf } from '../../src/domain/journal-proof';

const at = (minute: number): string => new Date(minute * 60_000).toISOString();

describe('"not sent" is proved', () => {
  const here = { journalId: 'j', boundSince: at(10), intents: ['n'] };

  it.each([
    ['by the journal that was named, before any intent', { journalId: 'j', intent: null }, 5, true],
    ['by the journal that was named, with the intent in it', { journalId: 'j', intent: 'n' }, 5, true],
    [
      'not where the intent is gone: the journal was set back',
      { journalId: 'j', intent: 'other' },
      20,
      false,
    ],
    ['not by another journal', { journalId: 'k', intent: null }, 20, false],
    ['not by another journal that has the same intent', { journalId: 'k', intent: 'n' }, 20, false],
    ['where nobody was lastHeartbeat, since the queue belongs to it', null, 10, true],
    ['where nobody was lastHeartbeat, not before that', null, 9, false],
  ])('[C4.4c] %s', (_title, lastHeartbeat, minute, proved) => {
    expect(provesNotSent({ lastHeartbeat, scheduledAt: at(minute) }, here)).toBe(proved);
  });

  it('[C4.4c] a time that cannot be read proves nothing', () => {
    expect(provesNotSent({ lastHeartbeat: null, scheduledAt: 'yesterday' }, here)).toBe(false);
  });

  it('reads the heartbeat of an attempt out of whatever a heartbeat holds', () => {
    expect(heartbeatOf({ journalId: 'j', intent: null })).toEqual({ journalId: 'j', intent: null });
    expect(heartbeatOf({ journalId: 'j', intents: [null, 'n'], taskIds: [] }, 1)).toEqual({
      journalId: 'j',
      intent: 'n',
    });
    fc.assert(
      fc.property(fc.anything(), fc.option(fc.nat(30), { nil: undefined }), (details, place) => {
        const heartbeat = heartbeatOf(details, place);
        expect(heartbeat === null || typeof heartbeat.journalId === 'string').toBe(true);
      }),
    );
  });
});

describe('the ledger of a queue', () => {
  const request = fc.record<BindRequest>(
    {
      journalId: fc.constantFrom('a', 'b'),
      hostId: fc.constantFrom('h', 'i', null),
      artifacts: fc.constantFrom('x', 'y', null),
      accounts: fc.uniqueArray(fc.constantFrom('one', 'two')),
      mark: fc.constantFrom('m', 'n', null),
      rebind: fc.constant(true as const),
    },
    { requiredKeys: ['journalId', 'hostId', 'artifacts', 'accounts', 'mark'] },
  );

  it('[C4.4a] changes its journal by a rebind only, and then counts from that moment', () => {
    fc.assert(
      fc.property(fc.array(request), (requests) => {
        let ledger: Ledger | null = null;
        for (const [minute, one] of requests.entries()) {
          const before: Ledger | null = ledger;
          const refused = one.rebind !== true && differenceOf(before, one) !== undefined;
          ledger = nextLedger(before, one, at(minute));
          if (refused) expect(ledger).toBe(before);
          else expect(differenceOf(ledger, one)).toBeUndefined();
          const isNew = before === null || one.rebind === true;
          expect(ledger.boundSince).toBe(isNew ? at(minute) : before.boundSince);
          if (!refused) expect(ledger.mark).toBe(isNew ? one.mark : (one.mark ?? before.mark));
          // Said twice, it changes nothing.
          expect(nextLedger(ledger, { ...one, rebind: undefined } as never, at(minute + 1))).toBe(ledger);
        }
      }),
    );
  });
});
