import { connect } from 'node:net';
import { networkCode } from '../../service/network-error';
import { proxyFor } from '../../service/proxy-environment';
import { type Check, failed, ok, skipped } from './check';

const CONNECT_MS = 3_000;
const DEFAULT_PORTS: { readonly [protocol: string]: number } = {
  'http:': 80,
  'https:': 443,
  'socks:': 1080,
  'socks5:': 1080,
};

/** Whether calls of the service go through a proxy, and whether that can be reached. */
export const proxy: Check = {
  name: 'proxy',
  title: 'Proxy',
  after: [],
  workerSide: true,
  limitMs: CONNECT_MS + 500,
  late: 'proxy',
  run: async ({ service, env }) => {
    if (service === undefined) return skipped('settings');
    const origin = new URL(service.baseUrl);
    const address = proxyFor(origin, env);
    if (address === undefined) {
      const anywhere = proxyFor(origin, { ...env, no_proxy: '', NO_PROXY: '' });
      return ok(
        anywhere === undefined
          ? 'none: the service is reached directly'
          : 'not for the service: NO_PROXY names its host',
      );
    }
    const url = usable(address);
    if (url === undefined)
      return failed('proxy', 'The proxy of the environment has no address that can be used.');
    const where = `${url.protocol}//${url.host}`;
    const problem = await connectionProblem(url);
    return problem === undefined
      ? ok(`the service is reached through ${where}`)
      : failed('proxy', `The proxy ${where}, through which the service is reached, ${problem}.`);
  },
};

function usable(address: string): URL | undefined {
  try {
    const url = new URL(address);
    return url.protocol in DEFAULT_PORTS && url.hostname !== '' ? url : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined when it accepts a connection; nothing is said to it. */
async function connectionProblem(url: URL): Promise<string | undefined> {
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port);
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port: port ?? 80 });
    const end = (problem?: string): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(CONNECT_MS, () => end(`does not answer within ${CONNECT_MS / 1_000} s`));
    socket.once('connect', () => end());
    socket.once('error', (error) => end(words(networkCode(error))));
  });
}

function words(code: string): string {
  if (code === 'ECONNREFUSED') return 'refuses the connection';
  return /^(?:ENOTFOUND|EAI_)/.test(code)
    ? 'has a host name that cannot be resolved'
    : `cannot be reached (${code})`;
}
