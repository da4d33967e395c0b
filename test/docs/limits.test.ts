import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_IMAGE_BYTES, MAX_RESULTS } from '../../src/activities/image-results';
import { MAX_REFERENCE_BYTES } from '../../src/activities/sources';
import { MAX_SENDS, RESEND_WINDOW_MS } from '../../src/domain/create-once';
import { DOWNLOAD_BOUNDS } from '../../src/domain/download';
import { MAX_INLINE_DATA_URL } from '../../src/domain/request';
import { CREATE_TIMEOUTS, IMAGE_TIMEOUTS, MAX_REQUEST_SECONDS } from '../../src/domain/timeouts';
import { MAX_TASK_ID_LENGTH } from '../../src/domain/video-task';
import { MAX_REPLY_BYTES } from '../../src/service/reply-body';
import { MAX_IMAGE_PIXELS } from '../../src/stores/artifacts/media-type';

const page = readFileSync(join(__dirname, '..', '..', 'docs', 'limits.md'), 'utf8');
const rows = new Map(
  page
    .split('\n')
    .filter((line) => /^\| (?!Bound|-)/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, bound, value]) => [bound, value] as const),
);

it('docs/limits.md tells the bounds of the code', () => {
  const count = (value: number) => value.toLocaleString('en-US');
  expect(Object.fromEntries(rows)).toEqual({
    '`data:` URL in an input, characters': count(MAX_INLINE_DATA_URL),
    'Reference that is fetched and sent as bytes, bytes': count(MAX_REFERENCE_BYTES),
    'Reply to a video create, bytes': count(MAX_REPLY_BYTES.videoCreate),
    'Reply to an image call, bytes': count(MAX_REPLY_BYTES.imageCall),
    'One image result, bytes': count(MAX_IMAGE_BYTES),
    'Results of one image reply': count(MAX_RESULTS),
    'One image result, pixels': count(MAX_IMAGE_PIXELS),
    'One video, bytes': count(DOWNLOAD_BOUNDS.maxBytes),
    'Task id, characters': count(MAX_TASK_ID_LENGTH),
    'Time of one create, seconds': count(CREATE_TIMEOUTS.httpBudgetMs / 1000),
    'Time of one image call or edit, seconds': count(IMAGE_TIMEOUTS.httpBudgetMs / 1000),
    '`requestSeconds`': count(MAX_REQUEST_SECONDS),
    'Sends of one create': `${MAX_SENDS} in ${RESEND_WINDOW_MS / 60_000} minutes`,
    'Tries of one download': `${DOWNLOAD_BOUNDS.maxTries}, or ${DOWNLOAD_BOUNDS.windowMs / 60_000} minutes`,
  });
});
