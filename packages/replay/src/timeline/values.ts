import { stripVTControlCharacters } from 'node:util';
import { isSentence, type Redactor } from 'temporal-media/internal/service/redact';

/** Fields of a payload's value. Histories from other versions or programs may contain anything. */
export type Fields = { readonly [name: string]: unknown };

const NONE: Fields = {};

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Returns a time as ISO 8601, or null if the value is not a time. */
export function timeOf(value: unknown): string | null {
  const ms = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : NaN;
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null;
}

/** Removes fields that are null or undefined. */
export function present<T>(facts: { readonly [name: string]: T | null | undefined }): { [name: string]: T } {
  const kept: { [name: string]: T } = {};
  for (const [name, value] of Object.entries(facts))
    if (value !== null && value !== undefined) kept[name] = value;
  return kept;
}

/** Formats a duration: `120 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function shownSpan(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  return hours < 24
    ? pair(hours, 'h', minutes % 60, 'min')
    : pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

const pair = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;

/** Formats a size: `812 B`, `20.4 kB`, `3.1 MB`. */
export function shownBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** Formats a count: `1 poll`, `3 polls`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/**
 * Returns the part of a value that may be shown, by the same rules as for logs (architecture: Stores). Each method
 * returns null for a value that is not a string.
 */
export interface Shown {
  /** An id chosen by others: unchanged, unless it contains a secret, an address or a sentence. */
  id(value: unknown): string | null;
  /** A status, code, reason or type name. A sentence, which may be a prompt, becomes `[text]`. */
  word(value: unknown): string | null;
  /** Text that a person wrote for others to read: on one line, shortened. */
  said(value: unknown): string | null;
  /** A SHA-256 digest. */
  hash(value: unknown): string | null;
}

const MAX_ID = 200;
const MAX_SAID = 300;

/** @param redactor knows the keys that must not be shown, in addition to text that looks like a key */
export function shownBy(redactor: Redactor): Shown {
  return {
    id: (value) => {
      const text = textOf(value);
      if (text === null) return null;
      if (redactor.holdsSecret(text) || isSentence(text)) return redactor.name(text, MAX_ID);
      const clean = redactor.text(text, MAX_ID);
      // A long id looks like data, so only parts that look like a key or an address are removed.
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

/**
 * Wraps text at spaces, indented beside its label. Does not split a word that is longer than a line, so that it can be
 * copied.
 */
export function hanging(head: string, text: string, width: number): string[] {
  const room = Math.max(20, width - head.length);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > room) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  const indent = ' '.repeat(head.length);
  return lines.map((part, index) => `${index === 0 ? head : indent}${part}`.trimEnd());
}

const widthOf = (text: string): number => stripVTControlCharacters(text).length;
