import ipaddr from 'ipaddr.js';
import { throwBug } from '../domain/bug';

/**
 * Returns the proxy that the environment sets for an origin. Lowercase variables win. Undefined means a direct
 * connection.
 */
export function proxyFor(origin: URL, env: NodeJS.ProcessEnv): string | undefined {
  const http = setting(env, 'http_proxy');
  const proxy = origin.protocol === 'https:' ? (setting(env, 'https_proxy') ?? http) : http;
  if (proxy === undefined || isExempt(origin, setting(env, 'no_proxy') ?? '')) return undefined;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}

/** The proxy passwords in the environment, both as written and decoded, so that they can be redacted. */
export function proxySecrets(env: NodeJS.ProcessEnv): string[] {
  const userInfos = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => {
    // Splits at the last @ instead of parsing a URL, because a password may contain characters that URLs do not allow.
    const userInfo = /^(?:[^/@]*:\/\/)?(.+)@/.exec(setting(env, name) ?? '')?.[1];
    return userInfo === undefined ? [] : [userInfo];
  });
  const parts = userInfos.map((userInfo) => userInfo.slice(userInfo.indexOf(':') + 1));
  return [...new Set([...parts, ...parts.map(uriDecoded)])];
}

/** Percent-decodes text. Returns it unchanged if it cannot be decoded. */
export function uriDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throwBug(error);
    return text;
  }
}

function setting(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name] ?? env[name.toUpperCase()];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

/**
 * Whether NO_PROXY exempts an origin. Entries are `*`, `host`, `.suffix` or `*.suffix`, each with an optional `:port`.
 * A plain host includes its subdomains. A range such as `10.0.0.0/8` matches only IP addresses; names are not resolved.
 */
function isExempt(origin: URL, noProxy: string): boolean {
  const host = origin.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  const port = origin.port === '' ? (origin.protocol === 'https:' ? '443' : '80') : origin.port;
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return isWithin(host, entry);
      const parts = /^(\[[^\]]+\]|[^:]+|[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:]*)(?::(\d+))?$/.exec(entry);
      if (parts?.[1] === undefined || (parts[2] !== undefined && parts[2] !== port)) return false;
      const name = parts[1].replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
      return host === name || host.endsWith(`.${name}`);
    });
}

function isWithin(host: string, range: string): boolean {
  if (!ipaddr.isValid(host) || !ipaddr.isValidCIDR(range)) return false;
  const address = ipaddr.process(host);
  const [base, bits] = ipaddr.parseCIDR(range);
  return address.kind() === base.kind() && address.match(base, bits);
}
