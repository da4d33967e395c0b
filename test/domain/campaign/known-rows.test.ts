import { packRows, unpackRows } from '../../../src/domain/campaign/row-set';
import { OpenLease } from '../../../src/workflows/campaign/lane-pages';

const LEASE = { lease: 3, index: 'f'.repeat(64), page: 1, generation: 0, done: packRows([0, 5]) };

describe('rows of a page of which a lane knows what was begun', () => {
  it('are those that it began or ended, in this run or the one before', () => {
    const lease = new OpenLease(LEASE);
    expect(lease.known([])).toEqual(new Set([0, 5]));
    lease.begin(2);
    expect(lease.known([])).toEqual(new Set([0, 2, 5]));
    lease.end(2);
    const next = new OpenLease(lease.carry());
    expect(next.known([7])).toEqual(new Set([0, 2, 5, 7]));
    expect(unpackRows(packRows(next.known([7])))).toEqual(next.known([7]));
  });

  it('are not those whose results never came to the parent: they are looked for again', () => {
    const lease = new OpenLease({ ...LEASE, done: '' });
    lease.begin(1);
    lease.end(1);
    // The page is being opened without a look for the row, and meanwhile its parent has forgotten the result.
    const before = lease.known([]);
    expect(lease.wantsAnyOf(before)).toBe(false);
    lease.agree('', new Set());
    expect(lease.wantsAnyOf(before)).toBe(true);
    expect(lease.known([])).toEqual(new Set());
    expect(lease.wantsAnyOf(lease.known([]))).toBe(false);
  });
});
