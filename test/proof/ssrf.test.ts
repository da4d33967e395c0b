import dns from 'node:dns';
import net, { type Socket } from 'node:net';
import { createAddressFilter } from '../../src/service/address-filter';
import { environmentConnections } from '../../src/service/connections';
import { type ContentFetchResult, type MediaClient } from '../../src/service/media-client';
import { clientOf, KEY } from '../service/client-under-test';
import { loopback, type Loopback, rawLoopback } from '../service/loopback-service';
import { connectProxy } from '../support/connect-proxy';
import { proved } from '../support/proof';
import { type Form, forbiddenForms, NAMES, PUBLIC, REBINDING, REBINDING_PUBLIC } from './ssrf/forms';

const counts = {
  forms: 0,
  requests: 0,
  redirects: 0,
  proxied: 0,
  connections: 0,
  bytes: 0,
  rebound: 0,
  allowed: 0,
  refused: 0,
};

/** Names that resolve to something allowed, for this file alone. */
const ALLOWED_NAME = 'allowed.test';

interface Trap {
  readonly port: number;
  readonly connections: () => number;
  readonly bytes: () => number;
  readonly close: () => Promise<void>;
}

/** Counts every connection and every byte that reaches it. */
async function openTrap(): Promise<Trap> {
  let bytes = 0;
  const server = await rawLoopback(
    (socket) => void socket.on('data', (chunk: Buffer) => (bytes += chunk.length)),
  );
  return { port: server.port, connections: server.connections, bytes: () => bytes, close: server.close };
}

let trap: Trap;
let service: Loopback;
let media: Loopback;
let client: MediaClient;
/** Where the service redirects to. */
let target: string;
let lookups: string[];

beforeAll(async () => {
  trap = await openTrap();
  media = await loopback((_request, response) => response.end('media'));
  service = await loopback(({ url }, response) => {
    if (url.startsWith('/redirect')) response.writeHead(302, { location: target }).end();
    else response.end('own');
  });
  client = clientOf(`${service.origin}/prefix`, {
    allowedMediaOrigins: [media.origin, `http://${ALLOWED_NAME}:${media.port}`],
  });
});
beforeEach(() => {
  lookups = [];
  jest.spyOn(dns, 'lookup').mockImplementation(resolve as unknown as typeof dns.lookup);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await client.close();
  counts.connections += trap.connections();
  counts.bytes += trap.bytes();
  await Promise.all([trap.close(), service.close(), media.close()]);
  proved('ssrf', {
    'forms of forbidden addresses': counts.forms,
    'requests to them': counts.requests,
    'redirects to them': counts.redirects,
    'names passed to a proxy': counts.proxied,
    'rebinding resolvers': counts.rebound,
    'allowed addresses taken': counts.allowed,
    'connections to a forbidden address': counts.connections,
    'bytes sent to a forbidden address': counts.bytes,
    'allowed addresses refused': counts.refused,
  });
});

type Resolved = (error: Error | null, ...found: unknown[]) => void;

/** Stands in for the system's resolver: literals, the names of the table, and no other. */
function resolve(name: string, given: { readonly all?: boolean } | Resolved, callback?: Resolved): void {
  const done = typeof given === 'function' ? given : callback!;
  const all = typeof given === 'object' && given.all === true;
  if (net.isIP(name) === 0) lookups.push(name);
  const names: Readonly<Record<string, readonly string[]>> = {
    ...NAMES,
    [ALLOWED_NAME]: ['127.0.0.1'],
    [REBINDING]: [REBINDING_PUBLIC],
  };
  const found = (net.isIP(name) === 0 ? (names[name] ?? []) : [name]).map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
  setImmediate(() => {
    if (found.length === 0) done(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }));
    else if (all) done(null, found);
    else done(null, found[0]!.address, found[0]!.family);
  });
}

async function fetchOf(url: string, by: MediaClient = client): Promise<string> {
  const result = await by.fetchContent({ url: new URL(url) });
  return heartbeatOf(result);
}

async function heartbeatOf(result: ContentFetchResult): Promise<string> {
  if (result.kind === 'blocked') return result.reason;
  if (result.kind === 'network') return result.code === 'ENOTFOUND' ? 'no such host' : result.code;
  if (result.kind === 'refused') return String(result.status);
  return Buffer.concat(await result.body.toArray()).toString();
}

const parsed = (url: string) => URL.canParse(url);

describe('an address that is not public', () => {
  it('is never connected to, whatever it is written like', async () => {
    const forms = forbiddenForms(trap.port);
    expect(new Set(forms.map(({ url }) => url)).size).toBe(forms.length);
    expect(forms.length).toBeGreaterThanOrEqual(120);
    counts.forms = forms.length;
    const told: Form[] = [];
    for (const { url } of forms) {
      if (!parsed(url)) told.push({ url, says: 'no url' });
      else {
        told.push({ url, says: (await fetchOf(url)) as Form['says'] });
        counts.requests += 1;
      }
    }
    expect(told).toEqual(forms);
    expect([trap.connections(), trap.bytes()]).toEqual([0, 0]);
  });

  it('[C5.3] is not reached by a redirect either, and the key least of all', async () => {
    const told: Form[] = [];
    const forms = forbiddenForms(trap.port).filter(({ url }) => /^[\x20-\x7e]*$/.test(url));
    for (const { url } of forms) {
      target = url;
      const says = await fetchOf(`${service.origin}/redirect`);
      told.push({ url, says: (says === 'location' ? 'no url' : says) as Form['says'] });
      counts.redirects += 1;
    }
    // A location is relative to the service: what is no URL of its own may be a path there, which is no foreign place.
    const relative = (url: string) => !parsed(url) || /^http:(?!\/\/|\\\\)/i.test(url);
    expect(told.filter(({ url }) => !relative(url))).toEqual(forms.filter(({ url }) => !relative(url)));
    for (const { url, says } of told.filter(({ url }) => relative(url)))
      expect({ url, says }).toEqual({ url, says: expect.stringMatching(/^(no url|own|address)$/) as string });
    expect([trap.connections(), trap.bytes()]).toEqual([0, 0]);
  });

  it('is not asked of a proxy: what this machine resolves to a private address never leaves it', async () => {
    const proxy = await connectProxy({
      names: Object.fromEntries(Object.keys(NAMES).map((name) => [name, trap.port])),
    });
    const through = clientOf('http://service.test', {
      connectionFactory: environmentConnections({ http_proxy: proxy.url }),
    });
    const forms = forbiddenForms(trap.port).filter(
      ({ url, says }) => says === 'address' && url.startsWith('http://') && parsed(url),
    );
    for (const { url } of forms) {
      expect({ url, says: await fetchOf(url, through) }).toEqual({ url, says: 'address' });
      counts.proxied += 1;
    }
    expect(proxy.asked).toEqual([]);
    expect([trap.connections(), trap.bytes()]).toEqual([0, 0]);
    await through.close();
    await proxy.close();
  });

  it('is seen at the connected peer when the resolver named a public one', async () => {
    const decoy = await openTrap();
    // What a hostile route or a resolver between the two looks does: the public address leads to this machine.
    const connect = net.connect.bind(net) as (options: object) => Socket;
    const dialled: unknown[] = [];
    jest.spyOn(net, 'connect').mockImplementation(((options: net.TcpNetConnectOpts) => {
      const { lookup, host } = options;
      if (host !== REBINDING) return connect(options);
      const socket = connect({ ...options, host: '127.0.0.1', port: decoy.port, lookup: undefined });
      lookup!(host, { all: true }, (error, addresses) => dialled.push(error ?? addresses));
      return socket;
    }) as unknown as typeof net.connect);
    for (const url of [`http://${REBINDING}:${decoy.port}/`, `http://${REBINDING}/`]) {
      expect(await fetchOf(url)).toBe('address');
      counts.rebound += 1;
    }
    expect(dialled).toEqual([
      [{ address: REBINDING_PUBLIC, family: 4 }],
      [{ address: REBINDING_PUBLIC, family: 4 }],
    ]);
    expect(lookups).toEqual([REBINDING, REBINDING]);
    // Only a handshake tells who the peer is; nothing is said to it.
    expect(decoy.bytes()).toBe(0);
    counts.bytes += decoy.bytes();
    await decoy.close();
  });

  it('is looked up anew for every hop: a name that was allowed on one port is none on another', async () => {
    target = `http://${ALLOWED_NAME}:${trap.port}/`;
    expect(await fetchOf(`${service.origin}/redirect`)).toBe('address');
    target = `https://${ALLOWED_NAME}:${media.port}/`;
    expect(await fetchOf(`${service.origin}/redirect`)).toBe('address');
    counts.redirects += 2;
    expect(trap.connections()).toBe(0);
  });
});

describe('an address that is allowed', () => {
  async function taken(url: string, says: string): Promise<void> {
    const got = await fetchOf(url);
    if (got === says) counts.allowed += 1;
    else counts.refused += 1;
    expect({ url, says: got }).toEqual({ url, says });
  }

  it("[C5.3] the service's own origin, however its address is written, and the origins that were named", async () => {
    const { port } = service;
    for (const host of ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.0.0.1.'])
      await taken(`http://${host}:${port}/x`, 'own');
    await taken(`${media.origin}/x`, 'media');
    await taken(`http://${ALLOWED_NAME}:${media.port}/x`, 'media');
    for (target of ['/x', 'x', `//127.0.0.1:${port}/x`, `http://127.1:${port}/x`])
      await taken(`${service.origin}/redirect`, 'own');
    for (target of [
      `//127.0.0.1:${media.port}/x`,
      `${media.origin}/x`,
      `http://${ALLOWED_NAME}:${media.port}`,
    ])
      await taken(`${service.origin}/redirect`, 'media');
    expect(service.seen.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
    expect(media.seen.some(({ headers }) => JSON.stringify(headers).includes(KEY))).toBe(false);
  });

  it("[C5.3] another loopback name of the service's own port is asked for under its own name", async () => {
    const { port } = service;
    for (const host of ['localhost', '[::ffff:127.0.0.1]', '[::1]', '127.0.0.2']) {
      await taken(`http://${host}:${port}/x`, 'own');
      target = `http://${host}:${port}/x`;
      await taken(`${service.origin}/redirect`, 'own');
    }
    expect(service.seen.every(({ headers }) => headers.host === `127.0.0.1:${port}`)).toBe(true);
  });

  it('but not under another name, scheme or port', async () => {
    const { port } = service;
    for (const url of [
      `http://localhost:${trap.port}/`,
      `http://[::1]:${media.port}/`,
      `https://127.0.0.1:${port}/`,
      `https://localhost:${port}/`,
      `http://0.0.0.0:${port}/`,
      `http://10.0.0.1:${port}/`,
    ]) {
      const before = service.seen.length;
      expect({ url, says: await fetchOf(url) }).toEqual({ url, says: 'address' });
      expect(service.seen).toHaveLength(before);
      counts.forms += 1;
      counts.requests += 1;
    }
  });

  it.each(PUBLIC)('the public literal %s is allowed', (host) => {
    const allowed = createAddressFilter([]).allowsLiteral(new URL(`https://${host}:8443/x`));
    if (allowed) counts.allowed += 1;
    else counts.refused += 1;
    expect(allowed).toBe(true);
  });
});
