import { type PollErrorClass } from '../../src/domain/poll-answers';
import { type GetVideoResult } from '../../src/service/media-client';
import { clientOf, KEY } from './client-under-test';
import { afterRequest, closedPort, json, loopback, rawLoopback } from './loopback-service';

async function poll(
  status: number,
  body: unknown,
  headers = {},
): Promise<{ result: GetVideoResult; count: number }> {
  const service = await loopback((_request, response) => {
    if (typeof body === 'string') response.writeHead(status, headers).end(body);
    else json(response, status, body, headers);
  });
  const client = clientOf(service.origin);
  const result = await client.getVideo('task-1');
  await client.close();
  await service.close();
  return { result, count: service.seen.length };
}

describe('one poll', () => {
  it('[C4.7] [C5.1] [C9.1] is a GET without a body, with the key, of the encoded id', async () => {
    const service = await loopback((_request, response) =>
      json(response, 200, { id: 'x', status: 'queued' }),
    );
    const client = clientOf(`${service.origin}/p/v1`);
    for (const id of ['a/b?c#d', '%2e%2e', '..%2f', 'ä 😀', 'a..b']) await client.getVideo(id);
    expect(service.seen.map(({ url }) => url)).toEqual([
      '/p/v1/videos/a%2Fb%3Fc%23d',
      '/p/v1/videos/%252e%252e',
      '/p/v1/videos/..%252f',
      '/p/v1/videos/%C3%A4%20%F0%9F%98%80',
      '/p/v1/videos/a..b',
    ]);
    for (const request of service.seen) {
      expect(request).toMatchObject({ method: 'GET', body: Buffer.alloc(0) });
      expect(request.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
      expect(request.headers['content-length']).toBeUndefined();
    }
    await client.close();
    await service.close();
  });

  it.each(['', '.', '..', 'a\u0000', '\ud800', 'x'.repeat(513)])(
    'an id that fits into no path is not asked for',
    async (id) => {
      const service = await loopback((_request, response) => json(response, 200, {}));
      const client = clientOf(service.origin);
      expect(await client.getVideo(id)).toEqual({ kind: 'error', error: 'bad_request' });
      expect(() => client.contentUrl(id)).toThrow(Error);
      expect(service.seen).toHaveLength(0);
      await service.close();
    },
  );

  const ERRORS: [number, PollErrorClass][] = [
    [400, 'bad_request'],
    [401, 'credentials'],
    [403, 'credentials'],
    [404, 'not_found'],
    [410, 'not_found'],
    [408, 'unavailable'],
    [409, 'unavailable'],
    [425, 'unavailable'],
    [422, 'bad_request'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
    [504, 'unavailable'],
    [301, 'unreadable'],
  ];
  it.each(ERRORS)('status %i without a record is %s, asked once', async (status, error) => {
    const { result, count } = await poll(status, { error: { message: 'x' } });
    expect(result).toMatchObject({ kind: 'error', error, httpStatus: status });
    expect(count).toBe(1);
  });

  it('[C8.7] Retry-After of a poll is passed on whole', async () => {
    const { result } = await poll(429, '', { 'retry-after': '86400' });
    expect(result).toMatchObject({ error: 'rate_limited', retryAfterMs: 86_400_000 });
  });

  it.each([400, 404, 422, 500, 503])(
    '[C7.13] a full record in the body of a %i is a record',
    async (status) => {
      const { result } = await poll(status, {
        id: 'x',
        status: 'failed',
        error: { code: 'moderation_blocked' },
      });
      expect(result).toMatchObject({
        kind: 'record',
        httpStatus: status,
        record: { phase: 'failed', error: { kind: 'moderation', code: 'moderation_blocked' } },
      });
    },
  );

  it('[C7.2] an error body with a status word but no id is no failed video', async () => {
    const { result } = await poll(404, { status: 'error', message: 'no such task' });
    expect(result).toMatchObject({
      kind: 'error',
      error: 'not_found',
      taskError: { message: 'no such task' },
    });
  });

  it.each(['', 'null', '[]', '"x"', '<html></html>', '{"a":', '{}', '[1]', '{"error":{"message":"x"}}'])(
    '[C7.13] a 200 with %j is unreadable',
    async (body) => {
      expect((await poll(200, body)).result).toMatchObject({
        kind: 'error',
        error: 'unreadable',
        httpStatus: 200,
      });
    },
  );

  it('a byte order mark, a deep text and a hostile key do no harm', async () => {
    expect((await poll(200, '\ufeff{"id":"a","status":"queued"}')).result).toMatchObject({ kind: 'record' });
    expect((await poll(200, `{"id":"a","x":${'['.repeat(100_000)}`)).result).toMatchObject({
      error: 'unreadable',
    });
    const hostile = '{"id":"a","status":"queued","__proto__":{"progress":50},"constructor":1}';
    expect((await poll(200, hostile)).result).toEqual({
      kind: 'record',
      httpStatus: 200,
      digest: expect.stringMatching(/^.{8}$/) as unknown,
      id: 'a',
      record: { status: 'queued', phase: 'queued' },
      resultUrls: [],
    });
  });

  it('a reply with the bytes of the one before says the same, with the same digest', async () => {
    const replies = ['{"id":"a","status":"queued"}', '{"id":"a","status":"queued"}', '{"status":"running"}'];
    const service = await loopback((_request, response) => response.end(replies.shift()));
    const client = clientOf(service.origin);
    const [first, same, other] = [
      await client.getVideo('a'),
      await client.getVideo('a'),
      await client.getVideo('a'),
    ];
    if (first.kind !== 'record' || same.kind !== 'record' || other.kind !== 'record')
      throw new Error('All replies hold records');
    expect(same.digest).toBe(first.digest);
    expect([same.httpStatus, same.id, same.record, same.resultUrls]).toEqual([
      200,
      'a',
      first.record,
      first.resultUrls,
    ]);
    expect(JSON.parse(JSON.stringify(same))).toEqual(first);
    expect(other.digest).not.toBe(first.digest);
    await client.close();
    await service.close();
  });

  it('a body that is cut, a refused connection and a stalled reply are network errors', async () => {
    const cut = 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"id":';
    const server = await rawLoopback((socket) => afterRequest(socket, () => socket.end(cut)));
    expect(await clientOf(server.origin).getVideo('a')).toMatchObject({ error: 'network' });
    await server.close();
    const gone = clientOf(`http://127.0.0.1:${await closedPort()}`);
    expect(await gone.getVideo('a')).toEqual({ kind: 'error', error: 'network' });
    const stalled = await rawLoopback((socket) =>
      afterRequest(socket, () => socket.write('HTTP/1.1 200 OK\r\n\r\n{')),
    );
    const client = clientOf(stalled.origin, { timeouts: { pollBodyMs: 200 } });
    expect(await client.getVideo('a')).toMatchObject({ error: 'network' });
    const silent = await rawLoopback(() => undefined);
    const impatient = clientOf(silent.origin, { timeouts: { pollHeadersMs: 200 } });
    expect(await impatient.getVideo('a')).toEqual({ kind: 'error', error: 'network' });
    await Promise.all([gone.close(), client.close(), impatient.close(), stalled.close(), silent.close()]);
  });

  it('a signal ends the wait as late', async () => {
    const controller = new AbortController();
    const server = await rawLoopback((socket) => afterRequest(socket, () => controller.abort()));
    const client = clientOf(server.origin);
    expect(await client.getVideo('a', { signal: controller.signal })).toEqual({
      kind: 'error',
      error: 'late',
    });
    expect(await client.getVideo('a', { signal: controller.signal })).toEqual({
      kind: 'error',
      error: 'late',
    });
    expect(server.connections()).toBe(1);
    await client.close();
    await server.close();
  });

  it('[C5.4a] [C5.4b] an echoed key and signed URLs are in no error', async () => {
    const { result } = await poll(500, {
      error: `${KEY} https://u:p@h.example/x?X-Amz-Signature=zz cookie: a=b`,
    });
    expect(JSON.stringify(result)).not.toMatch(/1234567890|Signature|zz|a=b|u:p/);
  });

  it('without a key nothing is asked', async () => {
    const service = await loopback((_request, response) => json(response, 200, {}));
    expect(await clientOf(service.origin, { apiKey: () => '' }).getVideo('a')).toEqual({
      kind: 'error',
      error: 'credentials',
    });
    expect(service.seen).toHaveLength(0);
    await service.close();
  });
});
