import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';

/**
 * A stable name of this host for file journals: the digest of its machine id, else of its host name.
 * `MEDIA_HOST_ID` overrides both where neither is stable (containers on one volume).
 */
export async function hostId(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = env['MEDIA_HOST_ID'];
  const source = named ?? (await readFile('/etc/machine-id', 'utf8').catch(() => '')).trim();
  return createHash('sha256')
    .update(source === '' ? hostname() : source)
    .digest('hex')
    .slice(0, 16);
}
