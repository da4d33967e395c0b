import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV = 12;
const TAG = 16;
const HEAD = IV + TAG;

/** Bytes of a key that seals. */
export const SEALING_KEY = 32;

/** A text that only whoever has this random key can read again, as Base64. What is signed rests in no other form (C5.4b). */
export function sealText(text: string, key: Uint8Array): string {
  const iv = randomBytes(IV);
  const cipher = createCipheriv(CIPHER, key, iv);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
}

/** Undefined for what was sealed with another key, or is no sealed text at all. */
export function openSealed(sealed: string, key: Uint8Array): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < HEAD) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV), { authTagLength: TAG });
    decipher.setAuthTag(bytes.subarray(IV, HEAD));
    return Buffer.concat([decipher.update(bytes.subarray(HEAD)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
