import { Client } from 'undici';
import { bytesOf } from './body-of';
import { clientOf, KEY } from './client-under-test';
import { afterRequest, closedPort, json, loopback, type Loopback, rawLoopback } from './loopback-service';

const VIDEO = Buffer.from('not really a video, but bytes');

/** The API redirects as told by `location`; media is another origin that serves the bytes. */
async function twoOrigins(
  location: (media: Loopback, api: Loopback) => string,
  run: (api: Loopback, media: Loopback, allowed: string[]) => Promise<void>,
): Promise<void> {
  const media = await loopback((request, response) => {
    if (request.url.startsWith('/back')) response.writeHead(302, { location: `${api.origin}/final` }).end();
    else response.writeHead(200, { 'content-type': 'video/mp4', etag: '"abc"' }).end(VIDEO);
  });
  const api: Loopback = await loopback((request, response) => {
    if (request.url === '/final') response.end(VIDEO);
    else response.writeHead(302, { location: location(media, api), 'set-cookie': 'session=1' }).end('moved');
  });
  try {
    await run(api, media, [media.origin]);
  } finally {
    await api.close();
    await media.close();
  }
}

describe('fetching content', () => {
  it('[C4.8] [C5.1] [C9.1] the content endpoint is a GET with the key and without a body', async () => {
    const service = await loopback((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'video/mp4', etag: '"v1"', 'content-length': VIDEO.length })
        .end(VIDEO);
    });
    const client = clientOf(`${service.origin}/pre`);
    const result = await client.fetchContent({ url: client.contentUrl('a/b') });
    expect(result).toMatchObject({
      kind: 'body',
      status: 200,
      contentType: 'video/mp4',
      contentLength: VIDEO.length,
      contentRange: null,
      etag: '"v1"',
      contentEncoding: null,
      origin: 'service',
      hops: 0,
    });
    expect((await bytesOf(result)).equals(VIDEO)).toBe(true);
    expect(service.seen[0]).toMatchObject({ method: 'GET', url: '/pre/v1/videos/a%2Fb/content' });
    expect(service.seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'accept-encoding': 'identity',
    });
    await client.close();
    await service.close();
  });

  it('[C5.3] [C4.8] a redirect to another origin is followed without the key and without cookies', async () => {
    await twoOrigins(
      (media) => `${media.origin}/signed?sig=1`,
      async (api, media, allowedMediaOrigins) => {
        const client = clientOf(api.origin, { allowedMediaOrigins });
        const result = await client.fetchContent({ url: client.contentUrl('a') });
        expect(result).toMatchObject({ origin: 'other', hops: 1 });
        expect((await bytesOf(result)).equals(VIDEO)).toBe(true);
        expect(media.seen[0]?.url).toBe('/signed?sig=1');
        expect(JSON.stringify(media.seen[0]?.rawHeaders)).not.toContain(KEY);
        expect(media.seen[0]?.headers.cookie).toBeUndefined();
        await client.close();
      },
    );
  });

  it('[C5.3] a redirect back to the own origin gets the key again, but no cookie', async () => {
    await twoOrigins(
      (media) => `${media.origin}/back`,
      async (api, media, allowedMediaOrigins) => {
        const client = clientOf(api.origin, { allowedMediaOrigins });
        expect(
          (await bytesOf(await client.fetchContent({ url: client.contentUrl('a') }))).equals(VIDEO),
        ).toBe(true);
        expect(JSON.stringify(media.seen[0]?.rawHeaders)).not.toContain(KEY);
        expect(api.seen[1]?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
        expect(api.seen[1]?.headers.cookie).toBeUndefined();
        await client.close();
      },
    );
  });

  it('[C5.3] a result URL of another origin never gets the key', async () => {
    await twoOrigins(
      () => '/',
      async (api, media, allowedMediaOrigins) => {
        const client = clientOf(api.origin, { allowedMediaOrigins });
        await bytesOf(await client.fetchContent({ url: new URL(`${media.origin}/x`) }));
        expect(JSON.stringify(media.seen[0]?.rawHeaders)).not.toContain(KEY);
        await client.close();
      },
    );
  });

  it('an origin that is not allowed and not public is never connected to', async () => {
    await twoOrigins(
      (media) => `${media.origin}/x`,
      async (api, media) => {
        const client = clientOf(api.origin);
        const blocked = { kind: 'blocked', reason: 'address', service: api.origin };
        expect(await client.fetchContent({ url: client.contentUrl('a') })).toEqual({
          ...blocked,
          origin: media.origin,
        });
        const byName = new URL(`http://localhost:${media.port}/x`);
        expect(await client.fetchContent({ url: byName })).toEqual({ ...blocked, origin: byName.origin });
        expect(media.seen).toHaveLength(0);
        await client.close();
      },
    );
  });

  it.each([
    ['http://169.254.169.254/latest/meta-data', 'address'],
    ['http://[::7f00:1]/', 'address'],
    ['//10.0.0.1/x', 'address'],
    ['file:///etc/passwd', 'scheme'],
    ['data:video/mp4;base64,AAAA', 'scheme'],
    ['ftp://example.com/x', 'scheme'],
    ['http://u:p@127.0.0.1/', 'userinfo'],
    ['http://[', 'location'],
  ])('a redirect to %s is blocked', async (location, reason) => {
    const service = await loopback((_request, response) => response.writeHead(302, { location }).end());
    const client = clientOf(service.origin);
    expect(await client.fetchContent({ url: client.contentUrl('a') })).toMatchObject({
      kind: 'blocked',
      reason,
    });
    expect(service.seen).toHaveLength(1);
    await client.close();
    await service.close();
  });

  it.each([301, 302, 303, 307, 308])('a relative %i is followed on the same origin', async (status) => {
    const service = await loopback((request, response) => {
      if (request.url === '/v1/videos/other') response.end(VIDEO);
      else response.writeHead(status, { location: '../other' }).end();
    });
    const client = clientOf(service.origin);
    const result = await client.fetchContent({ url: client.contentUrl('a') });
    expect(result).toMatchObject({ kind: 'body', hops: 1 });
    expect((await bytesOf(result)).equals(VIDEO)).toBe(true);
    await client.close();
    await service.close();
  });

  it('https never becomes http', async () => {
    const service = await loopback((_request, response) => {
      response.writeHead(302, { location: 'http://api.invalid/x' }).end();
    });
    const client = clientOf('https://api.invalid', {
      connectionFactory: () => ({ dispatcher: new Client(service.origin), viaProxy: false }),
    });
    const result = await client.fetchContent({ url: client.contentUrl('a') });
    expect(result).toEqual({ kind: 'blocked', reason: 'downgrade' });
    expect(service.seen).toHaveLength(1);
    await client.close();
    await service.close();
  });

  it('five redirects are followed, a sixth and a loop are not', async () => {
    const service = await loopback((request, response) => {
      const left = Number(new URL(request.url, 'http://x').searchParams.get('left'));
      if (left === 0) response.end(VIDEO);
      else response.writeHead(302, { location: `/x?left=${left - 1}` }).end();
    });
    const client = clientOf(service.origin);
    const five = await client.fetchContent({ url: new URL(`${service.origin}/x?left=5`) });
    expect(five).toMatchObject({ kind: 'body', hops: 5 });
    await bytesOf(five);
    const url = new URL(`${service.origin}/x?left=1000`);
    expect(await client.fetchContent({ url })).toEqual({ kind: 'blocked', reason: 'too_many_redirects' });
    expect(service.seen).toHaveLength(12);
    await client.close();
    await service.close();
  });

  it('a range is asked for with If-Range, and what came back is told', async () => {
    const service = await loopback((_request, response) => {
      response.writeHead(206, { 'content-range': 'bytes 5-28/29', etag: '"v1"' }).end(VIDEO.subarray(5));
    });
    const client = clientOf(service.origin);
    const result = await client.fetchContent({
      url: client.contentUrl('a'),
      range: { from: 5, etag: '"v1"' },
    });
    expect(result).toMatchObject({ status: 206, contentRange: { from: 5, to: 28, total: 29 }, etag: '"v1"' });
    await bytesOf(result);
    expect(service.seen[0]?.headers).toMatchObject({ range: 'bytes=5-', 'if-range': '"v1"' });
    await client.close();
    await service.close();
  });

  it.each(['bytes 0-28/29', 'bytes 0-28/*'])(
    '[C4.3] a whole file answered with 206 and %s is the whole file',
    async (range) => {
      const service = await loopback((_request, response) => {
        response.writeHead(206, { 'content-range': range }).end(VIDEO);
      });
      const client = clientOf(service.origin);
      const result = await client.fetchContent({ url: client.contentUrl('a') });
      expect(result).toMatchObject({ kind: 'body', status: 200 });
      expect((await bytesOf(result)).equals(VIDEO)).toBe(true);
      await client.close();
      await service.close();
    },
  );

  it.each(['bytes 0-4/29', 'bytes 5-28/29', 'bytes 5-28/*', 'bytes=0-28', undefined])(
    'a part that was not requested is refused: %s',
    async (range) => {
      const service = await loopback((_request, response) => {
        response.writeHead(206, range === undefined ? {} : { 'content-range': range });
        response.end(VIDEO.subarray(0, 5));
      });
      const client = clientOf(service.origin);
      const result = await client.fetchContent({ url: client.contentUrl('a') });
      expect(result).toMatchObject({ kind: 'refused', status: 206 });
      await client.close();
      await service.close();
    },
  );

  it('a weak ETag is good for no resume', async () => {
    const service = await loopback((_request, response) =>
      response.writeHead(200, { etag: 'W/"v1"' }).end(VIDEO),
    );
    const client = clientOf(service.origin);
    const result = await client.fetchContent({
      url: client.contentUrl('a'),
      range: { from: 5, etag: 'W/"v1"' },
    });
    expect(result).toMatchObject({ status: 200, etag: null });
    await bytesOf(result);
    expect(service.seen[0]?.headers.range).toBeUndefined();
    await client.close();
    await service.close();
  });

  it.each([400, 401, 404, 409, 416, 422, 429, 500, 502, 204, 304])(
    'status %i is a refusal with its error',
    async (status) => {
      const service = await loopback((_request, response) => {
        response.writeHead(status, { 'retry-after': '2' });
        response.end(
          status === 204 || status === 304
            ? ''
            : JSON.stringify({ error: { code: 'not_ready', message: KEY } }),
        );
      });
      const client = clientOf(service.origin);
      const result = await client.fetchContent({ url: client.contentUrl('a') });
      expect(result).toMatchObject({ kind: 'refused', status, retryAfterMs: 2000, origin: 'service' });
      expect(JSON.stringify(result)).not.toContain(KEY);
      await client.close();
      await service.close();
    },
  );

  it('an encoding that nobody asked for is told', async () => {
    const service = await loopback((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'GZIP' }).end(VIDEO),
    );
    const client = clientOf(service.origin);
    const result = await client.fetchContent({ url: client.contentUrl('a') });
    expect(result).toMatchObject({ contentEncoding: 'gzip' });
    if (result.kind === 'body') result.body.destroy();
    await client.close();
    await service.close();
  });

  it('network trouble is told apart from refusals', async () => {
    const gone = clientOf(`http://127.0.0.1:${await closedPort()}`);
    expect(await gone.fetchContent({ url: gone.contentUrl('a') })).toEqual({
      kind: 'network',
      code: 'ECONNREFUSED',
      retryable: true,
    });
    const server = await rawLoopback((socket) => afterRequest(socket, () => socket.resetAndDestroy()));
    const client = clientOf(server.origin);
    expect(await client.fetchContent({ url: client.contentUrl('a') })).toMatchObject({
      kind: 'network',
      retryable: true,
    });
    await client.close();
    await server.close();
  });

  it('a body that stalls or is cut fails its reader', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc';
    const cut = await rawLoopback((socket) => afterRequest(socket, () => socket.end(head)));
    const stalled = await rawLoopback((socket) => afterRequest(socket, () => socket.write(head)));
    for (const server of [cut, stalled]) {
      const client = clientOf(server.origin);
      const result = await client.fetchContent({ url: client.contentUrl('a'), bodyIdleTimeoutMs: 200 });
      await expect(bytesOf(result)).rejects.toThrow();
      await client.close();
      await server.close();
    }
  });

  it('a signal ends a fetch, and close ends a body', async () => {
    const service = await loopback((_request, response) => void response.write('abc'));
    const client = clientOf(service.origin);
    const signal = AbortSignal.abort();
    expect(await client.fetchContent({ url: client.contentUrl('a'), signal })).toMatchObject({
      code: 'aborted',
    });
    const result = await client.fetchContent({ url: client.contentUrl('a') });
    const read = expect(bytesOf(result)).rejects.toThrow();
    await client.close();
    await read;
    await service.close();
  });

  it('a JSON page with status 200 is handed over with its claim only', async () => {
    const service = await loopback((_request, response) =>
      json(response, 200, { error: 'x' }, { 'content-type': 'video/mp4' }),
    );
    const client = clientOf(service.origin);
    const result = await client.fetchContent({ url: client.contentUrl('a') });
    expect(result).toMatchObject({ kind: 'body', contentType: 'video/mp4' });
    if (result.kind === 'body') result.body.destroy();
    await client.close();
    await service.close();
  });
});
