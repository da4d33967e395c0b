import { createHash } from 'node:crypto';

const LONGEST = 80;

/**
 * A file name for any id: unchanged when it is plain, else with the other characters replaced and a digest added, so
 * that two ids never share a name.
 */
export function safeName(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[.-]+/, '_') || '_';
  if (plain === id && id.length <= LONGEST && !WINDOWS_DEVICE.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return `${plain.slice(0, LONGEST)}-${digest}`;
}

const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
