import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { bookLog } from '../../../src/domain/campaign/budget-book';
import { fileOfRecord } from '../../../src/stores/journal/file-journal';
import {
  campaignName,
  entryName,
  hashIn,
  IDENTITY,
  keyPrefix,
  markName,
  numberIn,
  openName,
  openPrefix,
  prefixOfHash,
  removalName,
  taskName,
  taskPrefix,
} from '../../../src/stores/journal/records';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const [KEY, TASK, BODY] = [sha256('default\norder-1'), sha256('video_1'), sha256('body')];
const place = { namespace: 'default', creationKey: 'order-1', n: 3 };
const prefix = `keys/${KEY.slice(0, 2)}/${KEY}/`;

it('every record has the name under which the next version will look for it', () => {
  expect(IDENTITY).toBe('journal.json');
  expect(keyPrefix(place)).toBe(prefix);
  expect(prefixOfHash(KEY)).toBe(prefix);
  expect(entryName(prefix, 3)).toBe(`${prefix}3.entry`);
  expect(removalName(prefix)).toBe(`${prefix}removal`);
  expect(taskPrefix('video_1')).toBe(`tasks/${TASK.slice(0, 2)}/${TASK}/`);
  expect(taskName('video_1', 'a@1')).toBe(`${taskPrefix('video_1')}${sha256('a@1').slice(0, 16)}.json`);
  expect(openPrefix('body')).toBe(`open/${BODY.slice(0, 2)}/${BODY}/`);
  expect(openName(place, 'body')).toBe(`${openPrefix('body')}${KEY}.3.json`);
  expect(markName('one')).toBe(`marks/${sha256('one')}.mark`);
  const log = sha256('default\nspring');
  expect(campaignName({ ...bookLog('default', 'x'), name: 'spring' }, 7)).toBe(
    `campaigns/${log.slice(0, 2)}/${log}/7.record`,
  );
});

it('the file of a record lies below the folder of the journal, those of keys without a folder of their own', () => {
  expect(fileOfRecord('r', `${prefix}0.entry`)).toBe(join('r', KEY.slice(0, 2), KEY, '0.entry'));
  expect(fileOfRecord('r', markName('one'))).toBe(join('r', 'marks', `${sha256('one')}.mark`));
  expect(fileOfRecord('r', IDENTITY)).toBe(join('r', 'journal.json'));
});

it('a name tells its key and its number, and one of another form tells nothing', () => {
  expect(hashIn(`${prefix}12.entry`)).toBe(KEY);
  expect(numberIn(`${prefix}0.entry`)).toBe(0);
  expect(numberIn(`${prefix}12.entry`)).toBe(12);
  for (const name of [`keys/${KEY}/0.entry`, `x${prefix}0.entry`, `keys/ab/${KEY}x/0.entry`])
    expect(hashIn(name)).toBeUndefined();
  for (const name of ['x.entry', '0.entry.tmp', '0xentry', '00.entry', '01.entry', '-1.entry', '1.5.entry'])
    expect(numberIn(`${prefix}${name}`)).toBeUndefined();
  expect(numberIn(removalName(prefix))).toBeUndefined();
});
