import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { defaultPayloadConverter } from '@temporalio/common';
import { allowsWord, codecListener } from '../../examples/codec-server';
import { Encryption } from '../../examples/encryption';
import { remoteCodecOf } from '../../packages/cli/src/shared/codec-client';
import { newEncryption, newKey } from '../support/encryption';

const UI = 'https://temporal.example.com';
const AUTH = 'Bearer a-word-of-readers';
const plain = defaultPayloadConverter.toPayload({ prompt: 'a hidden kite' });

describe('the codec of the examples', () => {
  it('hides a payload, never the same way twice, and refuses one whose readable part was changed', async () => {
    const [one, other] = [newKey('one'), newKey('other')];
    const codec = new Encryption(`${one},${other}`);
    const [first, again] = await codec.encode([plain, plain]);
    expect(Buffer.from(first!.data!).equals(again!.data!)).toBe(false);
    const [read] = await new Encryption(`${other},${one}`).decode([first!]);
    expect(defaultPayloadConverter.fromPayload(read!)).toEqual({ prompt: 'a hidden kite' });
    // The same bytes under two names: only what is authenticated tells them apart.
    const alias = one.replace('one', 'alias');
    const renamed = {
      ...first!,
      metadata: { ...first!.metadata, 'encryption-key-id': Buffer.from('alias') },
    };
    await expect(new Encryption(`${one},${alias}`).decode([renamed])).rejects.toThrow('was changed');
    expect(await codec.decode([plain])).toEqual([plain]);
  });

  it.each(['', 'one', 'one:dG9vIHNob3J0', `${newKey('one')},${newKey('one')}`])('refuses keys %#', (keys) => {
    expect(() => new Encryption(keys)).toThrow('ID:BASE64 pairs of 32 bytes');
  });
});

describe('the codec server of the examples', () => {
  let server: Server;
  let origin: string;

  beforeAll(async () => {
    const listener = codecListener({ codec: newEncryption(), allows: allowsWord(AUTH), uiOrigin: UI });
    server = createServer(listener);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const ask = (headers: Record<string, string>, method = 'POST', body?: string): Promise<Response> =>
    fetch(`${origin}/decode`, { method, headers, ...(body !== undefined && { body }) });

  it('reads nothing for another word, page or method', async () => {
    expect((await ask({}, 'POST', '{}')).status).toBe(401);
    expect((await ask({ authorization: 'Bearer other' }, 'POST', '{}')).status).toBe(401);
    const foreign = await ask({ authorization: AUTH, origin: 'https://elsewhere.example' }, 'POST', '{}');
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    expect((await ask({ authorization: AUTH }, 'GET')).status).toBe(404);
    expect(allowsWord('')('')).toBe(false);
  });

  it('lets the page of the UI ask, and nobody send more than it holds', async () => {
    const preflight = await ask({ origin: UI, 'access-control-request-method': 'POST' }, 'OPTIONS');
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, UI]);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
    const page = await ask({ origin: UI, authorization: AUTH }, 'POST', '{"payloads":[{"data":"eA=="}]}');
    expect(await page.json()).toEqual({ payloads: [{ data: 'eA==' }] });
    expect((await ask({ authorization: AUTH }, 'POST', 'no JSON')).status).toBe(400);
    expect((await ask({ authorization: AUTH }, 'POST', ' '.repeat(16 * 1024 * 1024 + 1))).status).toBe(413);
  });

  const commandCodec = (endpoint: string) =>
    remoteCodecOf({ TEMPORAL_CODEC_ENDPOINT: endpoint, TEMPORAL_CODEC_AUTH: AUTH }, 'default')!;

  it('serves the commands, and tells them which key is missing', async () => {
    const codec = commandCodec(origin);
    const [hidden] = await codec.encode([plain]);
    expect(Buffer.from(hidden!.data!).includes('kite')).toBe(false);
    const [read] = await codec.decode([hidden!]);
    expect(defaultPayloadConverter.fromPayload(read!)).toEqual({ prompt: 'a hidden kite' });
    const foreign = await newEncryption('gone').encode([plain]);
    await expect(codec.decode(foreign)).rejects.toThrow(
      `The codec server at ${origin} returned HTTP 400: This process does not have the payload key "gone".`,
    );
  });

  it('a reason that repeats what the command sent shows no word of it, and a page is no reason', async () => {
    let contentType = 'text/plain';
    const echo = createServer(({ headers }, response) => {
      response.writeHead(400, { 'content-type': contentType }).end(`no: ${headers.authorization}`);
    });
    await once(echo.listen(0, '127.0.0.1'), 'listening');
    const codec = commandCodec(`http://127.0.0.1:${(echo.address() as AddressInfo).port}`);
    await expect(codec.decode([plain])).rejects.toThrow(/HTTP 400: no: \[removed\]\.$/);
    contentType = 'text/html';
    await expect(codec.decode([plain])).rejects.toThrow(/HTTP 400\.$/);
    echo.closeAllConnections();
    await new Promise((resolve) => echo.close(resolve));
  });
});
