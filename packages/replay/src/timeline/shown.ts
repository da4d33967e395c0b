import { isSentence, type Redactor } from 'temporal-media/internal/service/redact';
import { textOf } from './read-value';

/**
 * What may be shown of a value: the rules of logs (architecture: Stores). Each returns null for a value that is not a
 * text.
 */
export interface Shown {
  /** An id that somebody else chose: unchanged, unless it holds a secret, an address or a sentence. */
  id(value: unknown): string | null;
  /** A status, a code, a reason, a name of a type: a sentence, which may be a prompt, becomes `[text]`. */
  word(value: unknown): string | null;
  /** What a person wrote in order to be read: on one line, shortened. */
  said(value: unknown): string | null;
  /** A SHA-256. */
  hash(value: unknown): string | null;
}

const MAX_ID = 200;
const MAX_SAID = 300;

/** @param redactor knows the keys that must not be shown, besides what has the form of one. */
export function shownBy(redactor: Redactor): Shown {
  return {
    id: (value) => {
      const text = textOf(value);
      if (text === null) return null;
      if (redactor.holdsSecret(text) || isSentence(text)) return redactor.name(text, MAX_ID);
      const clean = redactor.text(text, MAX_ID);
      // A long id looks like data: only what looks like a key or an address is removed from it.
      if (/\[removed\]|\[path\]/.test(clean) || text.includes('://')) return clean;
      const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Cs}]+/gu, ' ');
      return line.length > MAX_ID ? `${line.slice(0, MAX_ID)}…` : line;
    },
    word: (value) => {
      const text = textOf(value);
      return text === null ? null : redactor.name(text);
    },
    said: (value) => {
      const text = textOf(value);
      return text === null ? null : redactor.text(text, MAX_SAID);
    },
    hash: (value) => (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? value : null),
  };
}
