import { recordStoreConformance } from '../../packages/testing/src';
import { type RecordStore } from '../../src/stores/journal/record-store';

describe('the conformance of a store of records', () => {
  it('shows what the store threw, and closes a store once', async () => {
    let closed = 0;
    const refused = (): Promise<never> => Promise.reject(new Error('no rights to this folder'));
    const store: RecordStore = {
      kind: 'broken',
      read: refused,
      readAll: refused,
      names: refused,
      create: refused,
      note: refused,
      remove: refused,
      check: refused,
      close: async () => {
        closed += 1;
        throw new Error('closed already');
      },
    };
    const checks = recordStoreConformance(async () => () => store);
    for (const { name, run } of checks) {
      closed = 0;
      const error = await run().then(
        () => undefined,
        (thrown: unknown) => thrown as Error,
      );
      expect([name, error?.message, closed]).toEqual([name, expect.stringContaining('no rights'), 1]);
    }
  });
});
