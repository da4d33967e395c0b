import { existsSync } from 'node:fs';
import path from 'node:path';
import groups from '../../scripts/mutation-groups.json';

const ROOT = path.resolve(__dirname, '..', '..');
const folderOf = (place: string): string => place.replace(/\*\.ts$/, '');

describe.each(Object.entries(groups))('mutation testing of %s', (_, { mutate, tests }) => {
  it.each([...mutate, ...tests])('finds %s', (place) => {
    expect(existsSync(path.join(ROOT, folderOf(place)))).toBe(true);
  });
});
