import { type AddressInfo, createServer } from 'node:net';
import { type VideoSendResult } from '../../src/service/media-client';
import { clientOf, jsonBody, KEY, send } from './client-under-test';
import { afterRequest, json, loopback, rawLoopback } from './loopback-service';

const created = { id: 'a', status: 'queued' };

/** What one reply of an HTTP server comes to. */
async function replied(
  status: number,
  body: unknown = '',
  headers: Record<string, string> = {},
): Promise<VideoSendResult> {
  const service = await loopback((_request, response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  try {
    return await clientOf(service.origin).createVideo(jsonBody(), send());
  } finally {
    await service.close();
  }
}

/** What one reply on a raw socket comes to. */
async function answered(text: string, end: boolean, deadlineMs = 20_000): Promise<VideoSendResult> {
  const service = await rawLoopback((socket) =>
    afterRequest(socket, () => {
      socket.write(text);
      if (end) socket.end();
    }),
  );
  try {
    return await clientOf(service.origin).createVideo(jsonBody(), send(undefined, { deadlineMs }));
  } finally {
    await service.close();
  }
}

describe('what a policy may name for its header', () => {
  const sent = async (header: string, idempotencyKey?: string) => {
    const service = await loopback((_request, response) => json(response, 200, created));
    const client = clientOf(service.origin);
    const options = idempotencyKey === undefined ? {} : { idempotencyKey };
    const result = await client.createVideo(jsonBody(), send({ idempotency: { header } }, options));
    await service.close();
    return { result, seen: service.seen };
  };

  it.each([
    ...['authorization', 'Cookie', 'HOST', 'connection', 'content-type', 'Content-Length', 'user-agent'],
    ...['transfer-encoding', 'accept', 'Accept-Language', 'expect', 'te', 'trailer', 'upgrade'],
    ...['proxy-authorization', '', 'a b', 'a:', ' key', 'schlüssel', 'x'.repeat(65)],
  ])('is not %j: nothing is sent', async (name) => {
    const { result, seen } = await sent(name, 'k1');
    expect(result).toEqual({
      class: 'not_sent',
      cause: 'invalid_policy',
      permanent: true,
      message: "The policy's idempotency header or key cannot be sent.",
    });
    expect(seen).toHaveLength(0);
  });

  it.each(['', 'a b', 'kö', 'a\nb', 'k'.repeat(256)])('the key %j fits into no header', async (key) => {
    const { result, seen } = await sent('Idempotency-Key', key);
    expect(result).toMatchObject({ class: 'not_sent', cause: 'invalid_policy' });
    expect(seen).toHaveLength(0);
  });

  it.each(['X-Content-Key', 'hosted', 'x-host', 'Te-1', 'x_key', 'x'.repeat(64)])(
    '%j is sent in lower case',
    async (name) => {
      const { result, seen } = await sent(name, 'k'.repeat(255));
      expect(result).toMatchObject({ class: 'accepted' });
      expect(seen[0]?.rawHeaders).toEqual(expect.arrayContaining([name.toLowerCase(), 'k'.repeat(255)]));
    },
  );

  it.each(['x-key', 'authorization', 'a b'])(
    'is of no account without a key: %j is not sent, the create is',
    async (name) => {
      const { result, seen } = await sent(name);
      expect(result).toMatchObject({ class: 'accepted' });
      expect(seen[0]?.headers).not.toHaveProperty('x-key');
      expect(seen[0]?.headers).toMatchObject({ accept: 'application/json', authorization: `Bearer ${KEY}` });
    },
  );
});

describe('a call that cannot be made', () => {
  it('has no usable key: told without the reason, which may hold it', async () => {
    const client = clientOf('http://127.0.0.1:9', { apiKey: () => Promise.reject(new Error(KEY)) });
    expect(await client.createVideo(jsonBody(), send())).toEqual({
      class: 'not_sent',
      cause: 'credential_unavailable',
      permanent: false,
      message: 'This worker has no usable key for the account.',
    });
  });

  it('has a file that is gone', async () => {
    const service = await loopback((_request, response) => json(response, 200, created));
    const path = `${__dirname}/no-such-file`;
    const file = { source: { path }, mediaType: 'image/png', sha256: 'a'.repeat(64), bytes: 1 };
    const parts = [{ kind: 'file' as const, name: 'image', fileName: 'image.png', file }];
    const body = { kind: 'multipart' as const, parts, bodyHash: 'b'.repeat(64) };
    const result = await clientOf(service.origin).editImage(body, send());
    expect(result).toEqual({
      class: 'not_sent',
      cause: 'file_unreadable',
      permanent: false,
      message: "One of the request's files can no longer be read.",
    });
    expect(service.seen).toHaveLength(0);
    await service.close();
  });

  it('[C7.6] meets nobody: proved by the marker, which never fired', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const onSend = jest.fn();
    const result = await clientOf(`http://127.0.0.1:${port}`).createVideo(
      jsonBody(),
      send(undefined, { onSend }),
    );
    expect(result).toMatchObject({ class: 'not_sent', cause: 'connection_refused', permanent: false });
    expect(onSend).not.toHaveBeenCalled();
  });
});

describe('a reply that tells too little', () => {
  it('[C4.4c] is none at all: unconfirmed, and whoever waits is told of the send once', async () => {
    const service = await rawLoopback((socket) => afterRequest(socket, () => socket.destroy()));
    const onSend = jest.fn();
    const result = await clientOf(service.origin).createVideo(jsonBody(), send(undefined, { onSend }));
    expect(result).toStrictEqual({ class: 'unconfirmed', cause: 'connection_lost_after_send', headers: {} });
    expect(onSend).toHaveBeenCalledTimes(1);
    await service.close();
  });

  it.each([
    ['is cut, though what came is JSON', '{"id":"a","status":"queued"}', true, 'reply_truncated'],
    ['never ends, though what came is JSON', '{"id":"a","status":"queued"}', false, 'timeout_after_send'],
  ])('[C4.4c] %s', async (_, body, end, cause) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n';
    const result = await answered(head + body, end, end ? 20_000 : 700);
    expect(result).toMatchObject({ class: 'unconfirmed', cause, httpStatus: 200 });
  });

  it.each(['zstd', 'gzip, gzip'])('is encoded as %s, which nobody asked for', async (encoding) => {
    expect(await replied(200, created, { 'content-encoding': encoding })).toMatchObject({
      class: 'unconfirmed',
      cause: 'reply_unreadable',
    });
    // An error is read no further, and thrown never.
    const error = await replied(502, 'x', { 'content-encoding': encoding });
    expect(error).toMatchObject({ class: 'unconfirmed', cause: 'http_502' });
    expect(error).not.toHaveProperty('error');
  });

  it('names two encodings in two headers', async () => {
    const text = JSON.stringify(created);
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-encoding: gzip\r\ncontent-length: ${text.length}`;
    expect(await answered(`${head}\r\n\r\n${text}`, true)).toMatchObject({ cause: 'reply_unreadable' });
  });

  it('keeps a digest only of what was accepted in words and could not be read', async () => {
    expect(await replied(200, 'oops')).toHaveProperty('replyHash');
    expect(await replied(299, 'oops')).toHaveProperty('replyHash');
    for (const status of [300, 302, 500]) {
      const result = await replied(status, created);
      expect(result).toMatchObject({ class: 'unconfirmed', cause: `http_${status}` });
      expect(result).not.toHaveProperty('replyHash');
    }
  });

  it('has an error only when it says anything', async () => {
    expect(await replied(500)).not.toHaveProperty('error');
    expect(await replied(503)).toMatchObject({ error: { kind: 'capacity', code: null, message: null } });
    expect(await replied(500, { code: 'E1' })).toMatchObject({ error: { kind: 'unknown', code: 'E1' } });
    expect(await replied(500, { message: 'm' })).toMatchObject({ error: { code: null, message: 'm' } });
  });

  it('[C7.13] is a page, and its title is the message', async () => {
    expect(await replied(400, '<html><title>Bad size</title>')).toMatchObject({
      class: 'rejected',
      error: { message: 'An HTML page: Bad size' },
    });
  });

  it('names no time to stay away: then none is told', async () => {
    expect(await replied(429)).toStrictEqual({
      class: 'refused_for_now',
      httpStatus: 429,
      error: { kind: 'capacity', code: null, message: null },
    });
    expect(Object.keys(await replied(400))).not.toContain('retryAfterMs');
  });
});
