import dns, { type LookupAddress } from 'node:dns';
import net, { type LookupFunction, type Socket } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';
import { ADDRESS_BLOCKED, createAddressFilter } from '../../src/service/address-filter';
import { networkCode } from '../../src/service/classify-reply';
import { rawLoopback } from './loopback-service';

const PUBLIC: LookupAddress = { address: '93.184.216.34', family: 4 };
const PUBLIC_6: LookupAddress = { address: '2606:4700::1111', family: 6 };
const PRIVATE: LookupAddress = { address: '10.0.0.1', family: 4 };
const NOT_FOUND = Object.assign(new Error('not found'), { code: 'ENOTFOUND' });

/** What the resolver of this machine is made to say. */
function resolving(addresses: readonly LookupAddress[], error: Error | null = null): jest.SpyInstance {
  const answer = (...[, , callback]: Parameters<LookupFunction>): void => callback(error, [...addresses]);
  return jest.spyOn(dns, 'lookup').mockImplementation(answer as unknown as typeof dns.lookup);
}

/** A socket that is never opened, with the peer that it is to show. */
function socketTo(remoteAddress: string | undefined): Socket {
  const socket = new net.Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  return socket;
}

interface Opened {
  readonly code: string | null;
  readonly message: string | null;
  readonly socket: Socket | null;
}

function open(
  origin: { protocol: string; hostname: string; host?: string; port: string },
  allowed: readonly string[] = [],
): Promise<Opened> {
  const connect = createAddressFilter(allowed).connector(500);
  return new Promise((resolve) => {
    connect(origin, (error, socket) => {
      resolve({
        code: error === null ? null : networkCode(error),
        message: error?.message ?? null,
        socket: socket,
      });
    });
  });
}

const HTTP = { protocol: 'http:', hostname: 'media.test', host: 'media.test:80', port: '80' };

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a name that the socket resolves', () => {
  /** The lookup that the socket would use, asked once. */
  async function lookup(all: boolean): Promise<unknown[]> {
    const connect = jest.spyOn(net, 'connect').mockImplementation(() => socketTo(undefined));
    void open(HTTP);
    const [{ lookup: own }] = connect.mock.calls[0] as unknown as [{ lookup: LookupFunction }];
    return new Promise((resolve) => own('media.test', { all }, (...told: unknown[]) => resolve(told)));
  }

  it('may be public: the socket gets what it asked for', async () => {
    resolving([PUBLIC, PUBLIC_6]);
    expect(await lookup(true)).toEqual([null, [PUBLIC, PUBLIC_6]]);
    expect(await lookup(false)).toEqual([null, PUBLIC.address, 4]);
  });

  it.each([
    ['a private address', [PRIVATE]],
    ['a public and a private address', [PUBLIC, PRIVATE]],
    ['a private and a public address', [PRIVATE, PUBLIC]],
    ['no address', []],
  ])('is blocked with %s', async (_, addresses) => {
    resolving(addresses);
    for (const all of [true, false]) {
      const [error, address, family] = await lookup(all);
      expect(error).toMatchObject({ code: ADDRESS_BLOCKED, message: 'The address is not public.' });
      expect([address, family]).toEqual(['', 0]);
    }
  });

  it('that does not exist is told as what it is', async () => {
    resolving([PUBLIC], NOT_FOUND);
    expect(await lookup(true)).toEqual([NOT_FOUND, '', 0]);
  });
});

describe('the peer of a socket', () => {
  it('is handed out when it is public', async () => {
    const socket = socketTo(PUBLIC.address);
    jest.spyOn(net, 'connect').mockReturnValue(socket);
    const opening = open(HTTP);
    socket.emit('connect');
    expect(await opening).toMatchObject({ code: null });
    socket.destroy();
  });

  it.each([PRIVATE.address, '::ffff:127.0.0.1', undefined])(
    'is closed and not handed out when it is %s, whatever happens to it afterwards',
    async (remote) => {
      const socket = socketTo(remote);
      jest.spyOn(net, 'connect').mockReturnValue(socket);
      const opening = open(HTTP);
      socket.emit('connect');
      expect(await opening).toEqual({
        code: ADDRESS_BLOCKED,
        message: 'The address is not public.',
        socket: null,
      });
      expect(socket.destroyed).toBe(true);
      expect(() => socket.emit('error', new Error('reset by the peer'))).not.toThrow();
    },
  );

  it('may be anywhere for an allowed origin, with or without the port in the name of the host', async () => {
    const server = await rawLoopback(() => undefined);
    const port = String(server.port);
    const own = { protocol: 'http:', hostname: '127.0.0.1', port };
    for (const [origin, allowed] of [
      [{ ...own, host: `127.0.0.1:${port}` }, `http://127.0.0.1:${port}`],
      [own, 'http://127.0.0.1'],
    ] as const) {
      const { code, socket } = await open(origin, [allowed]);
      expect([code, socket?.remoteAddress]).toEqual([null, '127.0.0.1']);
      socket?.destroy();
    }
    // The host decides, not the name alone: the port belongs to the origin.
    expect(await open({ ...own, host: '127.0.0.1:1' }, ['http://127.0.0.1'])).toMatchObject({
      code: ADDRESS_BLOCKED,
    });
    await server.close();
  });
});

describe.each([
  ['a foreign host', []],
  ['an allowed origin', ['https://media.test:8443']],
])('a connection to %s', (_, allowed) => {
  const origin = { protocol: 'https:', hostname: 'media.test', host: 'media.test:8443', port: '8443' };

  it('offers HTTP/1.1 only, and is given up after its timeout', async () => {
    resolving([PUBLIC]);
    const connect = jest
      .spyOn(tls, 'connect')
      .mockImplementation((() => socketTo(undefined)) as unknown as typeof tls.connect);
    expect(await open(origin, allowed)).toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' });
    const [options] = connect.mock.calls[0] as unknown as [ConnectionOptions];
    expect(options.ALPNProtocols).toEqual(['http/1.1']);
  });
});

describe('a host that a proxy resolves', () => {
  const allows = (host: string): Promise<boolean> =>
    createAddressFilter([]).allowsHost(new URL(`https://${host}/x`));

  it.each([
    ['public addresses', [PUBLIC, PUBLIC_6], null, true],
    ['a private address', [PRIVATE], null, false],
    ['a public and a private address', [PUBLIC, PRIVATE], null, false],
    ['none that this machine can find', [], NOT_FOUND, true],
  ])('with %s', async (_, addresses, error, expected) => {
    resolving(addresses, error);
    expect(await allows('media.test')).toBe(expected);
  });

  it('that is an address is validated without asking anybody', async () => {
    const lookup = resolving([PUBLIC]);
    expect(await allows('10.0.0.1')).toBe(false);
    expect(await allows('[::1]')).toBe(false);
    expect(await allows('93.184.216.34')).toBe(true);
    expect(lookup).not.toHaveBeenCalled();
  });
});
