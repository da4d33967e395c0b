import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, loopback, type Loopback } from '../service/loopback-service';
import { type ConnectProxy, connectProxy, type ConnectProxyOptions } from '../support/connect-proxy';
import { type Issued, privateCa } from '../support/private-ca';

const KEY = 'key-of-the-worker-4711';
const CALLS = join(__dirname, 'support', 'calls-in-process.js');
type Result = Readonly<Record<string, unknown>>;

/** NODE_EXTRA_CA_CERTS is read when a process starts: each case runs in one of its own. */
async function callsIn(
  env: NodeJS.ProcessEnv,
  calls: readonly (readonly string[])[],
): Promise<{ readonly results: readonly Result[]; readonly text: string }> {
  const all = { ...env, API_KEY: KEY, CALLS: JSON.stringify(calls), ...platform() };
  const text = await new Promise<{ stdout: string; stderr: string }>((resolve, reject) =>
    execFile(process.execPath, [CALLS], { env: all }, (error, stdout, stderr) =>
      error === null ? resolve({ stdout, stderr }) : reject(new Error(`${error.message}\n${stderr}`)),
    ),
  );
  const lines = text.stdout.trim().split('\n');
  return { results: lines.map((line) => JSON.parse(line) as Result), text: text.stdout + text.stderr };
}

/** Nothing of this machine's proxies and certificates. */
function platform(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

describe('an https service with a private certificate, behind a proxy', () => {
  let dir: string;
  let tls: Issued;
  let service: Loopback;
  let media: Loopback;
  /** Names that only the proxy resolves. */
  let names: Record<string, number>;
  let trusted: { readonly NODE_EXTRA_CA_CERTS: string };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'temporal-media-ca-'));
    const ca = await privateCa();
    tls = await ca.issue('localhost', 'api.invalid', 'media.invalid');
    trusted = { NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem') };
    await writeFile(trusted.NODE_EXTRA_CA_CERTS, ca.cert);
    media = await loopback((_request, response) => response.end('the bytes of a video'), tls);
    service = await loopback((request, response) => {
      if (request.url.endsWith('/content'))
        return void response.writeHead(302, { location: 'https://media.invalid/v.mp4?sig=s1gned' }).end();
      json(response, 200, { id: 'v', status: request.method === 'POST' ? 'queued' : 'completed' });
    }, tls);
    names = { 'api.invalid': service.port, 'media.invalid': media.port };
  });
  afterAll(async () => {
    await Promise.all([service.close(), media.close()]);
    await rm(dir, { recursive: true, force: true });
  });
  beforeEach(() => {
    service.seen.length = 0;
    media.seen.length = 0;
  });

  async function withProxy<T>(
    options: ConnectProxyOptions,
    act: (proxy: ConnectProxy) => Promise<T>,
  ): Promise<T> {
    const proxy = await connectProxy({ names, ...options });
    try {
      return await act(proxy);
    } finally {
      await proxy.close();
    }
  }

  it('[C5.1] [C5.3] create, poll and download go through the tunnel; the key is seen by the service alone', async () => {
    await withProxy({}, async (proxy) => {
      const env = { ...trusted, BASE_URL: 'https://api.invalid', HTTPS_PROXY: proxy.url };
      const { results } = await callsIn(env, [['create'], ['poll', 'v'], ['content', 'v']]);
      expect(results).toMatchObject([
        { class: 'accepted', taskId: 'v', marks: 1 },
        { kind: 'record' },
        { kind: 'body', origin: 'other', text: 'the bytes of a video', hops: 1 },
      ]);
      expect(proxy.tunnels).toEqual([
        'api.invalid:443',
        'api.invalid:443',
        'api.invalid:443',
        'media.invalid:443',
      ]);
      expect(proxy.forwarded).toEqual([]);
      const bearer = `Bearer ${KEY}`;
      expect(service.seen.map(({ headers }) => headers.authorization)).toEqual([bearer, bearer, bearer]);
      expect(media.seen).toHaveLength(1);
      expect(JSON.stringify(media.seen)).not.toContain(KEY);
      expect(proxy.heads.join()).not.toMatch(/authorization|s1gned/i);
      for (const clear of [KEY, 'Bearer', 's1gned', 'prompt'])
        expect(proxy.relayed().includes(clear)).toBe(false);
    });
  });

  it('without NODE_EXTRA_CA_CERTS nothing is sent, and the reason is said', async () => {
    await withProxy({}, async (proxy) => {
      const env = { BASE_URL: 'https://api.invalid', HTTPS_PROXY: proxy.url };
      const { results } = await callsIn(env, [['create'], ['poll', 'v'], ['content', 'v']]);
      expect(results).toMatchObject([
        { class: 'not_sent', cause: 'certificate_not_trusted', permanent: true, marks: 0 },
        { kind: 'error', error: 'network' },
        { kind: 'network', retryable: false },
      ]);
      expect(service.seen).toEqual([]);
    });
  });

  it.each(['localhost', '*', '.localhost,other.example'])(
    'NO_PROXY=%s: straight to the service',
    async (NO_PROXY) => {
      await withProxy({}, async (proxy) => {
        const BASE_URL = `https://localhost:${service.port}`;
        const env = { ...trusted, BASE_URL, HTTPS_PROXY: proxy.url, NO_PROXY };
        const { results } = await callsIn(env, [['create'], ['poll', 'v']]);
        expect(results).toMatchObject([{ class: 'accepted' }, { kind: 'record' }]);
        expect(proxy.asked).toEqual([]);
      });
    },
  );

  it('NO_PROXY for the media host alone: only that goes straight, and then its address is looked at', async () => {
    await withProxy({}, async (proxy) => {
      const env = {
        ...trusted,
        BASE_URL: 'https://api.invalid',
        HTTPS_PROXY: proxy.url,
        NO_PROXY: 'media.invalid',
      };
      const { results } = await callsIn(env, [['content', 'v']]);
      expect(results).toMatchObject([{ kind: 'network' }]);
      expect(proxy.asked).toEqual(['api.invalid:443']);
      const local = { ...env, NO_PROXY: 'localhost' };
      const direct = await callsIn(local, [['fetch', `https://localhost:${media.port}/v.mp4`]]);
      expect(direct.results).toMatchObject([{ kind: 'blocked', reason: 'address' }]);
      expect(media.seen).toEqual([]);
    });
  });

  it('[C5.4a] credentials in HTTPS_PROXY reach the proxy alone and are never printed', async () => {
    await withProxy({ credentials: 'robot:p@ss-of-the-proxy' }, async (proxy) => {
      const HTTPS_PROXY = proxy.url.replace('//', '//robot:p%40ss-of-the-proxy@');
      const right = await callsIn({ ...trusted, BASE_URL: 'https://api.invalid', HTTPS_PROXY }, [
        ['create'],
        ['content', 'v'],
      ]);
      expect(right.results).toMatchObject([{ class: 'accepted' }, { kind: 'body' }]);
      expect(JSON.stringify([...service.seen, ...media.seen])).not.toMatch(/proxy-auth/i);
      const wrong = await callsIn(
        { ...trusted, BASE_URL: 'https://api.invalid', HTTPS_PROXY: HTTPS_PROXY.replace('robot', 'other') },
        [['create'], ['poll', 'v'], ['content', 'v']],
      );
      expect(wrong.results).toMatchObject([
        { class: 'not_sent', cause: 'proxy_refused', marks: 0 },
        { error: 'network' },
        { kind: 'network' },
      ]);
      for (const secret of [
        KEY,
        'ss-of-the-proxy',
        Buffer.from('robot:p@ss-of-the-proxy').toString('base64'),
      ])
        expect(right.text + wrong.text).not.toContain(secret);
    });
  });

  it('a proxy that is spoken to in TLS itself works too, and must be trusted', async () => {
    await withProxy({ tls }, async (proxy) => {
      const env = { BASE_URL: 'https://api.invalid', https_proxy: proxy.url };
      expect((await callsIn({ ...trusted, ...env }, [['create']])).results).toMatchObject([
        { class: 'accepted' },
      ]);
      expect((await callsIn(env, [['create']])).results).toMatchObject([
        { class: 'not_sent', cause: 'certificate_not_trusted', marks: 0 },
      ]);
      expect(proxy.asked).toEqual(['api.invalid:443']);
    });
  });

  it('a certificate for another name is permanent, inside the tunnel as without', async () => {
    await withProxy({ names: { 'other.invalid': service.port } }, async (proxy) => {
      const env = { ...trusted, BASE_URL: 'https://other.invalid', HTTPS_PROXY: proxy.url };
      const { results } = await callsIn(env, [['create'], ['content', 'v']]);
      expect(results).toMatchObject([
        { class: 'not_sent', cause: 'certificate_not_trusted', permanent: true, marks: 0 },
        { kind: 'network', retryable: false },
      ]);
      expect(service.seen).toEqual([]);
    });
  });
});
