import path from 'node:path';
import everyChange from './every-change';
import longOnly from './long-only';
import { isLong, LONG } from './long-suites';
import { allTestFiles } from './needs';

const ROOT = path.resolve(__dirname, '..', '..');
const files = allTestFiles();

it.each(LONG)('%s begins the path of a test', (place) => {
  expect(files.some((file) => file.startsWith(place))).toBe(true);
});

it('a test runs either with every change or with the long suites', () => {
  const all = files.map((file) => path.join(ROOT, file));
  const [often, seldom] = [everyChange(all).filtered, longOnly(all).filtered];
  expect([...often, ...seldom].sort()).toEqual([...all].sort());
  expect(isLong('test/proof/kill-points.test.ts')).toBe(true);
  expect(isLong('test/e2e/campaign.test.ts')).toBe(false);
  expect(isLong('test/e2e/new.test.ts')).toBe(false);
});
