import { packRows, rowsOf } from '../../../src/domain/campaign/row-sets';

describe('rows of a set', () => {
  it('are all of the page, or those that it names', () => {
    const page = ['a', 'b', 'c', 'd', 'e'];
    expect(rowsOf({}, page)).toEqual(page);
    expect(rowsOf({ rows: packRows([4, 1]) }, page)).toEqual(['b', 'e']);
    expect(rowsOf({ rows: packRows([]) }, page)).toEqual([]);
  });
});
