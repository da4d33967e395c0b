import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { throwBug } from '../domain/bug';

const CIPHER = 'aes-256-gcm';
const IV = 12;
const TAG = 16;
const HEAD = IV + TAG;

/** Length of a sealing key, in bytes. */
export const SEALING_KEY = 32;

/** Encrypts a text with this random key, as Base64. Signed URLs are stored in no other form (C5.4b). */
export function sealText(text: string, key: Uint8Array): string {
  const iv = randomBytes(IV);
  const cipher = createCipheriv(CIPHER, key, iv);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
}

/** Decrypts a sealed text; undefined when it was sealed with another key or is not sealed text. */
export function openSealed(sealed: string, key: Uint8Array): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV), { authTagLength: TAG });
    decipher.setAuthTag(bytes.subarray(IV, HEAD));
    return Buffer.concat([decipher.update(bytes.subarray(HEAD)), decipher.final()]).toString('utf8');
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}
