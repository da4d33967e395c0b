import { gzipSync } from 'node:zlib';
import { type CreatePolicy } from '../../src/domain/create-policy';
import { type PaidFailure, type VideoSendResult } from '../../src/service/media-client';
import { clientOf, jsonBody, KEY, send } from './client-under-test';
import { json, loopback } from './loopback-service';

interface Case {
  readonly row: string;
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly policy?: CreatePolicy;
  readonly expected: Partial<PaidFailure>;
}

async function reply(
  one: Pick<Case, 'status' | 'body' | 'headers' | 'policy'>,
): Promise<{ result: VideoSendResult; count: number }> {
  const service = await loopback((_request, response) => {
    const text = typeof one.body === 'string' ? one.body : JSON.stringify(one.body ?? '');
    response.writeHead(one.status, one.headers ?? {}).end(one.body === undefined ? '' : text);
  });
  const client = clientOf(service.origin);
  try {
    return { result: await client.createVideo(jsonBody(), send(one.policy)), count: service.seen.length };
  } finally {
    await client.close();
    await service.close();
  }
}

const rejected = (reason: string) => ({ class: 'rejected', reason }) as Partial<PaidFailure>;
const refused = (more = {}) => ({ class: 'refused_for_now', ...more }) as Partial<PaidFailure>;
const unconfirmed = (cause: string) => ({ class: 'unconfirmed', cause }) as Partial<PaidFailure>;
const moderation = { error: { code: 'moderation_blocked', message: 'no' } };
const quota = { error: { code: 'insufficient_quota', message: 'no' } };

const CASES: readonly Case[] = [
  ...[400, 404, 405, 413, 415, 422].map((status) => ({
    row: '23 [C7.1]',
    status,
    body: { error: { message: 'bad' } },
    expected: rejected('invalid_request'),
  })),
  { row: '23 [C7.8]', status: 400, body: moderation, expected: rejected('moderation') },
  { row: '23', status: 400, body: quota, expected: rejected('quota') },
  { row: '23 [C7.8]', status: 400, body: { code: 'ServerOverloaded' }, expected: rejected('capacity') },
  { row: '23 [C5.2]', status: 401, expected: rejected('credentials') },
  { row: '23 [C5.2]', status: 403, expected: rejected('credentials') },
  { row: '23 [C7.8]', status: 403, body: moderation, expected: rejected('moderation') },
  { row: '24', status: 402, body: '<html>', expected: rejected('quota') },
  { row: '25', status: 408, expected: unconfirmed('http_408') },
  {
    row: '26',
    status: 409,
    body: { error: { code: 'moderation_blocked' } },
    expected: unconfirmed('http_409'),
  },
  { row: '27', status: 425, expected: refused({ httpStatus: 425 }) },
  { row: '27', status: 425, body: moderation, expected: rejected('moderation') },
  { row: '28', status: 429, expected: refused({ httpStatus: 429 }) },
  {
    row: '28 [C8.7]',
    status: 429,
    headers: { 'retry-after': '7' },
    expected: refused({ retryAfterMs: 7000 }),
  },
  { row: '28', status: 429, policy: { on429: 'fail' }, expected: rejected('capacity') },
  { row: '28 [C7.8]', status: 429, body: moderation, expected: rejected('moderation') },
  { row: '28', status: 429, body: quota, expected: rejected('quota') },
  {
    row: '28',
    status: 429,
    body: { error: { code: 'invalid_size' } },
    expected: rejected('invalid_request'),
  },
  { row: '29', status: 500, body: moderation, expected: unconfirmed('http_500') },
  { row: '29', status: 500, policy: { on500: 'resend' }, expected: refused({ httpStatus: 500 }) },
  { row: '29', status: 500, policy: { on500: 'fail' }, expected: rejected('service_error') },
  { row: '30', status: 502, headers: { 'retry-after': '7' }, expected: unconfirmed('http_502') },
  { row: '30', status: 504, expected: unconfirmed('http_504') },
  { row: '30', status: 502, policy: { on502: 'resend' }, expected: refused({ httpStatus: 502 }) },
  { row: '30', status: 504, policy: { on504: 'fail' }, expected: rejected('service_error') },
  { row: '31 [C7.5]', status: 503, expected: unconfirmed('http_503') },
  { row: '31', status: 503, headers: { 'retry-after': 'soon' }, expected: refused() },
  {
    row: '31 [C7.5]',
    status: 503,
    headers: { 'retry-after': '3' },
    expected: refused({ retryAfterMs: 3000 }),
  },
  {
    row: '31',
    status: 503,
    headers: { 'retry-after': '3' },
    body: moderation,
    expected: rejected('moderation'),
  },
  { row: '31', status: 503, policy: { on503: 'resend' }, expected: refused() },
  {
    row: '31',
    status: 503,
    headers: { 'retry-after': '3' },
    policy: { on503: 'inspect' },
    expected: unconfirmed('http_503'),
  },
  { row: '32', status: 200, body: '<html>ok</html>', expected: unconfirmed('reply_unreadable') },
  { row: '32', status: 204, expected: unconfirmed('reply_unreadable') },
  { row: '32', status: 200, body: 'x'.repeat(1_100_000), expected: unconfirmed('reply_too_large') },
  { row: '32', status: 200, body: '[[[[[[[['.repeat(9), expected: unconfirmed('reply_unreadable') },
  ...[
    {},
    { id: '' },
    { id: 7.5 },
    { id: 2 ** 53 },
    { id: true },
    { id: null },
    { id: 'x'.repeat(513) },
    { id: 'a\u0000b' },
    { id: '.' },
    { id: '..' },
    { id: '\ud800' },
    ['id'],
  ].map((body) => ({ row: '33', status: 200, body, expected: unconfirmed('reply_without_id') })),
  { row: '26', status: 409, body: { id: 'a', status: 'queued' }, expected: unconfirmed('http_409') },
  { row: '29', status: 500, body: { id: 'a', status: 'queued' }, expected: unconfirmed('http_500') },
  { row: '23', status: 400, body: { id: 'a', status: 'queued' }, expected: rejected('invalid_request') },
  ...[301, 302, 303, 307, 308].map((status) => ({
    row: '35 [C4.4a]',
    status,
    headers: { location: '/elsewhere' },
    expected: unconfirmed(`http_${status}`),
  })),
  ...[299, 304, 407, 410, 418, 451, 501, 520, 599].map((status) => ({
    row: 'no',
    status,
    expected: unconfirmed(status === 299 ? 'reply_unreadable' : `http_${status}`),
  })),
];

describe('one reply to a paid call', () => {
  it.each(CASES)(
    '[C4.4a] row $row: status $status $policy is sent once and read as it should',
    async (one) => {
      const { result, count } = await reply(one);
      expect(result).toMatchObject(one.expected);
      expect(count).toBe(1);
    },
  );

  it('[C4.6] id and status of the create reply are what counts', async () => {
    const { result } = await reply({
      status: 201,
      body: { id: 'vid/1 ä', status: 'QUEUED', extra: { a: 1 } },
      headers: { 'x-request-id': 'r-1', 'set-cookie': 'a=b' },
    });
    expect(result).toEqual({
      class: 'accepted',
      taskId: 'vid/1 ä',
      httpStatus: 201,
      status: 'queued',
      phase: 'queued',
      headers: { 'x-request-id': 'r-1', date: expect.any(String) as string },
    });
  });

  it('[C3.8] a task that is failed at creation is still a created task', async () => {
    const { result } = await reply({ status: 200, body: { id: 'a', status: 'failed', error: 'no' } });
    expect(result).toMatchObject({ class: 'accepted', taskId: 'a', phase: 'failed' });
  });

  it('a reply that a gateway compressed all the same is not lost', async () => {
    const service = await loopback((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"id":"a","status":"queued"}'));
    });
    const client = clientOf(service.origin);
    expect(await client.createVideo(jsonBody(), send())).toMatchObject({ class: 'accepted', taskId: 'a' });
    await service.close();
  });

  it('[C5.1] [C4.5] [C4.6] a create is JSON with the key, below the prefix of the base', async () => {
    const service = await loopback((_request, response) =>
      json(response, 200, { id: 'a', status: 'queued' }),
    );
    const client = clientOf(`${service.origin}/gateway/v1/`);
    const body = jsonBody({ model: 'image-2 4K', prompt: 'ü' });
    await client.createVideo(
      body,
      send({ idempotency: { header: 'Idempotency-Key' } }, { idempotencyKey: 'k1' }),
    );
    const [request] = service.seen;
    expect(request).toMatchObject({ method: 'POST', url: '/gateway/v1/videos' });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'idempotency-key': 'k1',
    });
    expect(request?.body.toString()).toBe(body.text);
    await service.close();
  });

  it('[C1.4] without a policy for it no header of ours is sent', async () => {
    const service = await loopback((_request, response) => json(response, 200, { id: 'a' }));
    await clientOf(service.origin).createVideo(jsonBody(), send(undefined, { idempotencyKey: 'k1' }));
    expect(Object.keys(service.seen[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
    await service.close();
  });

  it('[C7.11] a rejected 400 says that it may be from before a task existed', async () => {
    const { result } = await reply({ status: 400, body: { error: { message: 'bad size' } } });
    expect(result).toMatchObject({ error: { kind: 'invalid', message: 'bad size' } });
    expect((result as { message: string }).message).toMatch(/before a task existed \(parsing or capability/);
  });

  it('[C5.4a] [C5.4b] a key and a signed URL that the service echoes are in no result', async () => {
    const { result } = await reply({
      status: 500,
      body: { error: { message: `Bearer ${KEY} at https://h/x?sig=abc and ${encodeURIComponent(KEY)}` } },
      headers: { 'x-request-id': KEY },
    });
    expect(JSON.stringify(result)).not.toContain(KEY);
    expect(JSON.stringify(result)).not.toContain('sig=');
    expect(result).toMatchObject({ class: 'unconfirmed', error: { kind: 'unknown' } });
  });

  it('a reply that cannot be read leaves its hash', async () => {
    const { result } = await reply({ status: 200, body: 'oops' });
    expect(result).toMatchObject({ replyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  });

  it.each(['', '  ', 'a\nb', 'schlüssel'])(
    '[C5.1] a key that fits into no header sends nothing',
    async (key) => {
      const service = await loopback((_request, response) => json(response, 200, { id: 'a' }));
      const client = clientOf(service.origin, { apiKey: () => key });
      expect(await client.createVideo(jsonBody(), send())).toMatchObject({
        class: 'not_sent',
        cause: 'credential_unavailable',
      });
      expect(service.seen).toHaveLength(0);
      await service.close();
    },
  );

  it('a key source that throws or hangs sends nothing', async () => {
    const service = await loopback((_request, response) => json(response, 200, { id: 'a' }));
    const failing = clientOf(service.origin, { apiKey: () => Promise.reject(new Error(KEY)) });
    const hanging = clientOf(service.origin, { apiKey: () => new Promise(() => undefined) });
    for (const client of [failing, hanging]) {
      const result = await client.createVideo(jsonBody(), send(undefined, { deadlineMs: 50 }));
      expect(result).toMatchObject({ class: 'not_sent', cause: 'credential_unavailable' });
      expect(JSON.stringify(result)).not.toContain(KEY);
    }
    expect(service.seen).toHaveLength(0);
    await service.close();
  });
});
