import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

/** The error code when a connection leads to a forbidden address. */
export const ADDRESS_BLOCKED = 'MEDIA_ADDRESS_BLOCKED';

/** Blocks result URLs that lead into private networks (architecture: Download, failure model: Foreign bytes). */
export interface AddressFilter {
  /** False when the host is a literal IP address that is forbidden. Host names are checked when they are resolved. */
  allowsLiteral(url: URL): boolean;
  /** For hosts that a proxy resolves: false if the name resolves here and any of its addresses is forbidden. */
  allowsHost(url: URL): Promise<boolean>;
  /** Opens direct sockets. Checks the address during the DNS lookup and again on the connected socket. */
  connector(timeoutMs: number): buildConnector.connector;
}

/** The only range that IANA assigns to hosts. Other IPv6 addresses are reserved, local, or embed another address. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** NAT64: traffic goes to the embedded IPv4 address (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** A public address, but inside Azure it serves the virtual machine's secrets. */
const WIRE_SERVER = ipaddr.IPv4.parse('168.63.129.16');

/**
 * Whether an IP address is public unicast. False for text that is not an address and for addresses with a zone index
 * (`%eth0`).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return isPublicIpv4(address);
  // IPv6-only networks map every IPv4 host to a NAT64 address. Public hosts must stay reachable there.
  if (address.match(NAT64)) return isPublicIpv4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return address.match(GLOBAL_IPV6) && address.range() === 'unicast';
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !address.match(WIRE_SERVER, 32);
}

/**
 * Creates a filter. `allowedOrigins` match exactly and may resolve to any address. Entries that are not URLs are
 * ignored.
 */
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
 * Whether a service can probably reach an address, judging by host names alone. An address on this machine or in a
 * private network is reachable only if the service is there too. Names with a dot count as public, because they may
 * resolve to a different host elsewhere.
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
  return Object.assign(new Error('The address is not public.'), { code: ADDRESS_BLOCKED });
}

/** Fails if any of the addresses is forbidden, because the socket picks one of them. */
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
