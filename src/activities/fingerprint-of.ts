import { createHash } from 'node:crypto';
import { fingerprintText } from '../domain/fingerprint';
import { type PaidRequest } from '../domain/request';
import { type Account } from '../accounts/registry';

/** Null where a file of the request could not be read: without its hash the same request would look like another. */
export function fingerprintOf(
  paid: PaidRequest,
  account: Pick<Account, 'name'>,
  fileHashes: ReadonlyMap<string, string>,
): string | null {
  let isKnown = true;
  const text = fingerprintText(paid, account.name, (file) => {
    const hash = fileHashes.get(file);
    isKnown &&= hash !== undefined;
    return hash ?? file;
  });
  return isKnown ? createHash('sha256').update(text).digest('hex') : null;
}
