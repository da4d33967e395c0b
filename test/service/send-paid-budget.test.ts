import { FormData } from 'undici';
import { type PaidCall } from '../../src/service/paid-exchange';
import { clientOf, jsonBody, KEY, send } from './client-under-test';

const mockCalls: PaidCall[] = [];
jest.mock('../../src/service/paid-exchange', () => ({
  exchangeOnce: async (call: PaidCall) => {
    mockCalls.push(call);
    return { kind: 'lost', cause: 'timeout_after_send' };
  },
}));

afterEach(() => {
  mockCalls.length = 0;
  jest.restoreAllMocks();
});

it.each([
  ['the clock that never steps', performance],
  ['the wall clock', Date],
])('what the key took by %s is gone from the time of the call', async (_, clock: { now(): number }) => {
  let now = 1000;
  jest.spyOn(performance, 'now').mockReturnValue(1000);
  jest.spyOn(Date, 'now').mockReturnValue(1000);
  jest.spyOn(clock, 'now').mockImplementation(() => now);
  const client = clientOf('http://127.0.0.1:9', {
    apiKey: async () => {
      now += 300;
      return KEY;
    },
  });
  await client.createVideo(jsonBody(), send(undefined, { deadlineMs: 1000 }));
  expect(mockCalls).toHaveLength(1);
  expect(mockCalls[0]?.budgetMs).toBe(700);
  expect(mockCalls[0]).not.toHaveProperty('onSend');
  expect(mockCalls[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
});

it('the limit on the wait for the key is gone as soon as the key is there', async () => {
  jest.useFakeTimers();
  try {
    await clientOf('http://127.0.0.1:9').createVideo(jsonBody(), send());
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

it('a form brings its own content type', async () => {
  const part = { kind: 'text' as const, name: 'model', value: 'image-2' };
  const body = { kind: 'multipart' as const, parts: [part], bodyHash: 'b'.repeat(64) };
  await clientOf('http://127.0.0.1:9').editImage(body, send());
  expect(mockCalls.at(-1)?.headers).not.toHaveProperty('content-type');
  expect(mockCalls.at(-1)?.body).toBeInstanceOf(FormData);
});
