import fc from 'fast-check';
import {
  type BindRequest,
  differenceOf,
  type QueueBinding,
  nextQueueBinding,
} from '../../src/domain/journal';

const at = (minute: number): string => new Date(minute * 60_000).toISOString();

describe('the binding of a queue', () => {
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

  it('[C4.4a] changes its journal by a rebind only, and then counts from that moment; before the first no call was sent', () => {
    fc.assert(
      fc.property(fc.array(request), (requests) => {
        let queueBinding: QueueBinding | null = null;
        for (const [minute, one] of requests.entries()) {
          const before: QueueBinding | null = queueBinding;
          const refused = one.rebind !== true && differenceOf(before, one) !== undefined;
          queueBinding = nextQueueBinding(before, one, at(minute));
          if (refused) expect(queueBinding).toBe(before);
          else expect(differenceOf(queueBinding, one)).toBeUndefined();
          const isNew = before === null || one.rebind === true;
          const since = one.rebind === true ? at(minute) : new Date(0).toISOString();
          expect(queueBinding.boundSince).toBe(isNew ? since : before.boundSince);
          if (!refused) expect(queueBinding.mark).toBe(isNew ? one.mark : (one.mark ?? before.mark));
          // Said twice, it changes nothing.
          expect(nextQueueBinding(queueBinding, { ...one, rebind: undefined } as never, at(minute + 1))).toBe(
            queueBinding,
          );
        }
      }),
    );
  });
});
