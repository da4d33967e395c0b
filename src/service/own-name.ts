import ipaddr from 'ipaddr.js';

/**
 * A link to a loopback name of the port where the service itself is, under the name by which the service is
 * configured; any other address stays as it is. A service in a container or behind a tunnel names itself `127.0.0.1`
 * where people wrote `localhost`: one port of one machine is one service. The link is asked for where the key goes
 * anyway, so that nothing else on this machine is ever contacted or told the key (C5.3).
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
