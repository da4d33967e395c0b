import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { retryLater, sanitised } from '../../src/activities/failures';
import { createRedactor } from '../../src/service/redact';

const KEY = 'some-key-0123456789';
const redactors = async () => [createRedactor([KEY])];

it('[C5.4a] [C5.4b] [C5.4c] an error of a library is told without keys, addresses and paths, and keeps its type', async () => {
  const error = new RangeError(
    `bad ${KEY} at https://cdn.example/x?sig=zz, open '/home/someone/pictures/cat.png'`,
    { cause: new Error(KEY) },
  );
  const told = (await sanitised(error, redactors)) as ApplicationFailure;
  expect(told).toBeInstanceOf(ApplicationFailure);
  expect(told).toMatchObject({ type: 'RangeError', nonRetryable: false, cause: undefined });
  expect(`${told.message} ${told.stack}`).not.toMatch(/0123456789|sig=|someone|cat\.png/);
  expect(told.message).toMatch(/^bad /);
  expect(told.stack).toMatch(/^RangeError: bad .*\n\s+at /);
});

it('what the SDK gives a meaning to, and what is ours, stays the same', async () => {
  const abort = Object.assign(new Error('aborted'), { name: 'AbortError' });
  const ours = [retryLater({ class: 'busy', message: 'later' }), new CancelledFailure('CANCELLED'), abort];
  for (const error of ours) expect(await sanitised(error, redactors)).toBe(error);
});

it('a key that cannot be read hides no failure', async () => {
  const told = await sanitised('a text', () => Promise.reject(new Error('no key')));
  expect(told).toMatchObject({ type: 'Error', message: 'a text' });
});
