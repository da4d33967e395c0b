import ipaddr from 'ipaddr.js';

/**
 * Rewrites a link to a loopback name with the service's port to the host name in the configuration; returns any other
 * address unchanged. A service in a container or behind a tunnel may call itself `127.0.0.1` although it is configured
 * as `localhost`. The rewritten link has the origin that receives the key anyway, so that no other service on this
 * machine is contacted or gets the key (C5.3).
 */
export function underOwnName(url: URL, own: URL): URL {
  const same = url.protocol === own.protocol && url.port === own.port;
  if (!same || url.host === own.host || !isLoopback(url.hostname) || !isLoopback(own.hostname)) return url;
  const named = new URL(url);
  named.hostname = own.hostname;
  return named;
}

function isLoopback(hostname: string): boolean {
  if (/^localhost\.?$/i.test(hostname)) return true;
  const address = hostname.replace(/[[\]]/g, '');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
