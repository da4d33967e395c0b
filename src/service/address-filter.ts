import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** Code of the error with which a connection to a forbidden address ends. */
export const ADDRESS_BLOCKED = 'MEDIA_ADDRESS_BLOCKED';

/** Blocks result URLs that lead into private networks (architecture: Download, failure model: Foreign bytes). */
export interface AddressFilter {
  /** False when the host is a literal of a forbidden address; a name is checked when it is resolved. */
  allowsLiteral(url: URL): boolean;
  /** For a host that a proxy resolves: false when this machine can resolve it and any address is forbidden. */
  allowsHost(url: URL): Promise<boolean>;
  /** Opens direct sockets; checks the address at the lookup and again at the connected peer. */
  connector(timeoutMs: number): buildConnector.connector;
}

/** The range that IANA assigns to hosts: all other IPv6 is reserved, local, or embeds another address. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** NAT64: connects to the embedded IPv4 address (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** In a public range, but serves the secrets of the virtual machine inside the cloud of one large provider. */
const WIRE_SERVER = ipaddr.IPv4.parse('168.63.129.16');

/**
 * Whether an IP address is public unicast. False for text that is not an address, and for an address that is bound to
 * an interface of this machine (`%eth0`).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address);
  // A network without IPv4 maps every IPv4 host to such an address: public hosts stay reachable there.
  if (address.match(NAT64)) return isPublicIpv4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return address.match(GLOBAL_IPV6) && address.range() === 'unicast';
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !address.match(WIRE_SERVER, 32);
}

/** `allowedOrigins` are exact and may have any address. Entries that are not URLs are ignored. */
export function createAddressFilter(allowedOrigins: readonly string[]): AddressFilter {
  const allowed = new Set(allowedOrigins.map(originOf));
  return {
    allowsLiteral: (url) => allowed.has(url.origin) || !isLiteral(url) || isPublicAddress(bare(url.hostname)),
    allowsHost: async (url) => allowed.has(url.origin) || (await resolvesToPublic(bare(url.hostname))),
    connector: (timeoutMs) => {
      const open = buildConnector({ timeout: timeoutMs, allowH2: false });
      const guarded = buildConnector({ timeout: timeoutMs, allowH2: false, lookup: publicLookup });
      return (options, callback) => {
        const origin = originOf(`${options.protocol}//${options.host ?? options.hostname}`);
        if (allowed.has(origin)) return open(options, callback);
        return guarded(options, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          if (isPublicAddress(String(socket.remoteAddress))) return callback(null, socket);
          socket.destroy();
          callback(blocked(), null);
        });
      };
    },
  };
}

/**
 * Whether a service can reach an address, by the names of both: not one on this machine or in a private network, unless
 * the service is as near. A name with a dot may resolve elsewhere to another host, so it counts as public.
 */
export function isWithinReach(address: URL, service: URL): boolean {
  return distanceOf(address) >= distanceOf(service);
}

const PRIVATE_SUFFIX = /\.(?:local|internal|lan|home\.arpa|svc)$/;

/** 0 on this machine, 1 in a private network, 2 public. */
function distanceOf(url: URL): 0 | 1 | 2 {
  const host = bare(url.hostname).replace(/\.$/, '');
  if (/^(?:.+\.)?localhost$/.test(host)) return 0;
  if (!ipaddr.isValid(host)) return !host.includes('.') || PRIVATE_SUFFIX.test(host) ? 1 : 2;
  if (isPublicAddress(host)) return 2;
  return ipaddr.process(host).range() === 'loopback' ? 0 : 1;
}

function isLiteral(url: URL): boolean {
  return ipaddr.isValid(bare(url.hostname));
}

function bare(hostname: string): string {
  return hostname.replace(/[[\]]/g, '');
}

function originOf(text: string): string | undefined {
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

function blocked(): Error {
  return Object.assign(new Error('The address is not a public one.'), { code: ADDRESS_BLOCKED });
}

/** Fails if any of the addresses is forbidden, because the socket chooses one of them itself. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, '', 0);
    const first = addresses[0];
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(blocked(), '', 0);
    if (options.all === true) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};

async function resolvesToPublic(hostname: string): Promise<boolean> {
  if (ipaddr.isValid(hostname)) return isPublicAddress(hostname);
  return new Promise((resolve) => {
    dnsLookup(hostname, { all: true }, (error, addresses) => {
      resolve(error !== null || addresses.every(({ address }) => isPublicAddress(address)));
    });
  });
}
