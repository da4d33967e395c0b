import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const SALT = 16;
const IV = 12;
const TAG = 16;
const HEAD = SALT + IV + TAG;

/** A text that only whoever has `secret` can read again, as Base64. What is signed rests in no other form (C5.4b). */
export async function sealText(text: string, secret: string): Promise<string> {
  const salt = randomBytes(SALT);
  const iv = randomBytes(IV);
  const cipher = createCipheriv(CIPHER, await keyOf(secret, salt), iv);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([salt, iv, cipher.getAuthTag(), body]).toString('base64');
}

/** Undefined for what was sealed with another secret, or is no sealed text at all. */
export async function openSealed(sealed: string, secret: string): Promise<string | undefined> {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < HEAD) return undefined;
  try {
    const key = await keyOf(secret, bytes.subarray(0, SALT));
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(SALT, SALT + IV), { authTagLength: TAG });
    decipher.setAuthTag(bytes.subarray(SALT + IV, HEAD));
    return Buffer.concat([decipher.update(bytes.subarray(HEAD)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyOf(secret: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, 32, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}
