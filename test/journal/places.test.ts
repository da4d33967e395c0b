import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { keyFolder, openFile, openFolder, taskFile, taskFolder } from '../../src/journal/file-journal';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const [KEY, TASK, BODY] = [sha256('default\norder-1'), sha256('video_1'), sha256('body')];
const place = { namespace: 'default', creationKey: 'order-1', sendAttempt: 3 };

it('every record lies where the next version will look for it', () => {
  expect(keyFolder('r', place)).toBe(join('r', KEY.slice(0, 2), KEY));
  expect(taskFolder('r', 'video_1')).toBe(join('r', 'tasks', TASK.slice(0, 2), TASK));
  expect(taskFile('r', 'video_1', 'a@1')).toBe(
    join('r', 'tasks', TASK.slice(0, 2), TASK, `${sha256('a@1').slice(0, 16)}.json`),
  );
  expect(openFolder('r', 'body')).toBe(join('r', 'open', BODY.slice(0, 2), BODY));
  expect(openFile('r', place, 'body')).toBe(join('r', 'open', BODY.slice(0, 2), BODY, `${KEY}.3.json`));
});
