import { throwBug } from '../domain/bug';

/** Removes everything from external text that must never be stored or shown (contract 5.4). */
export interface Redactor {
  /** Returns one line of at most `maxLength` characters (default 500) without keys, URLs, paths or data. */
  text(value: string, maxLength?: number): string;
  /**
   * Cleans a code, a status value or a name for stores that must not contain error texts (architecture: Stores). A
   * sentence becomes `[text]`, because it may be an echoed prompt. At most `maxLength` characters (default 100).
   */
  name(value: string, maxLength?: number): string;
  /** Returns a URL's scheme, host and port. No other part is ever shown. */
  url(value: string): string;
  /** Returns a page without this worker's secrets, cookies, signatures and signed URLs. Keeps all other bytes. */
  page(bytes: Buffer): Buffer;
  /**
   * Whether a value that must not be altered (an ID, an ETag) contains one of this worker's secrets or a URL with a
   * query. A secret as short as a word must be the whole value: `vid` in `video_9f` is not an echoed key, and a paid
   * task must not be lost because of it.
   */
  holdsSecret(value: string): boolean;
}

const MAX_LENGTH = 500;
/** Test services use words as keys, and these may also occur in IDs. Real keys are longer than this. */
const LONGEST_WORD = 11;
const MAX_NAME = 100;
/** The maximum number of names to cache. Other names are redacted each time. */
const KEPT_NAMES = 1_000;
/** Status values and public model names have at most this many words; prompts usually have more. */
const MAX_NAME_WORDS = 4;
/** In scripts without spaces between words, text with more characters than this counts as a sentence. */
const MAX_FOREIGN_NAME = 16;
/** The longest text that the patterns process, in characters. */
const MAX_INPUT = 16_384;

/** The end of a label that precedes a secret in a sentence or a record. */
const LABEL = String.raw`((?:api|access)[ _-]?key|token|secret|signature|password|credential|x-amz-[\w-]{1,40}|sig)`;
/** A verb between label and value, as in `Incorrect API key provided: …`. */
const VERB = String.raw`(?:\s+(?:provided|given|is|was))?`;
const VALUE = String.raw`[^\s"'<>,;&]`;

/** Keys of well-known services have fixed prefixes, so they are recognized without a label. */
const WELL_KNOWN =
  /\b(?:AIza[\w-]{10,}|gsk_\w{6,}|A[KS]IA[A-Z0-9]{12,}|gh[oprsu]_\w{16,}|github_pat_\w{16,}|xox[a-z]-[\w-]{6,})/g;

type Replacement = string | ((match: string, ...groups: (string | undefined)[]) => string);

/**
 * The replacements that `text` makes, in this order. For a new kind of secret, add one entry here. If it can be a
 * single word of at most 40 letters and digits, add it to WELL_KNOWN, which the fast path applies. If it occurs in
 * pages, add it to PAGE_PATTERNS too. Patterns must run in linear time: a pattern that could restart within a run of
 * characters matches the whole run and lets a function decide.
 */
const PATTERNS: readonly (readonly [RegExp, Replacement])[] = [
  [/\bdata:[a-z0-9.+/;=-]{0,100},[^\s"'<>]*/gi, '[data]'],
  [/\b(?:authorization|proxy-authorization|set-cookie|cookie)["']?\s*[:=][^\n\r]*/gi, '[removed]'],
  [/\bbearer\s+[^\s"'<>,;]{6,}/gi, '[removed]'],
  [/\bhttps?%3a%2f%2f[^\s"'<>]*/gi, '[address]'],
  [new RegExp(`${LABEL}(["']?${VERB}\\s*[:=]\\s*["']?)${VALUE}+`, 'gi'), '$1$2[removed]'],
  // Without `:` or `=` before it, a value must contain a digit, so "the password is required" is kept.
  [new RegExp(`${LABEL}(${VERB}\\s+["'(]?)(?=${VALUE}{0,200}\\d)${VALUE}{6,}`, 'gi'), '$1$2[removed]'],
  [WELL_KNOWN, '[removed]'],
  [/\bsk-[\w-]{6,}/g, '[removed]'],
  [
    /\beyJ[\w-]{5,}(?:(\.[\w-]{5,})(?:\.[\w-]*)?)?/g,
    (match, payload) => (payload === undefined ? match : '[removed]'),
  ],
  [/\?[\w.%~-]{1,80}=[^\s"'<>]*/g, ''],
  [/(?<![\w/:.])(?:~|\.{1,2})?\/(?!v1\/)(?:[^\s"'<>/]{1,255}\/)+[^\s"'<>]*/g, '[path]'],
  [/(?<!\w)(?:~|\.{1,2})\/[^\s"'<>]+/g, '[path]'],
  [/(?<!\w)[a-z]:[\\/][^\s"'<>]+/gi, '[path]'],
  [/\\\\[^\s"'<>\\]+\\[^\s"'<>]*/g, '[path]'],
  [/[A-Za-z0-9+/_-]{48,}={0,2}/g, '[data]'],
];

const QUOTED_PATH = /(["'`])(?:file:|~\/|\.{1,2}\/|\/(?!v1\/)|[a-z]:[\\/]|\\\\)[^"'`\n]*\1/gi;
const ADDRESS = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>`]*/gi;
const SCHEMELESS = /(?<![\w:/])\/\/[\w.-]+\.[a-z]{2,}[^\s"'<>`]*/gi;

/** Credentials and signed URLs in a page, including URLs whose slashes are escaped as in JSON. */
const PAGE_PATTERNS: readonly (readonly [RegExp, Replacement])[] = [
  [/\b(?:authorization|proxy-authorization|set-cookie|cookie)["']?\s*[:=][^\n\r<]*/gi, '[removed]'],
  [
    /\b[a-z][a-z0-9+.-]{0,20}:(?:\\?\/){2}[^\s"'<>`]*/gi,
    (address) => (/[?@]/.test(address) ? '[address]' : address),
  ],
  [/\bhttps?%3a%2f%2f[^\s"'<>]*/gi, '[address]'],
  [/\?[\w.%~-]{1,80}=[^\s"'<>]*/g, '[query]'],
  [/((?:signature|x-amz-[\w-]{1,40}|sig)["']?\s*[:=]\s*["']?)[^\s"'<>,;&]+/gi, '$1[removed]'],
];

/** Creates a redactor that also removes this worker's secrets, which it keeps only in memory. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const usable = [...secrets].filter((secret) => secret.length >= 3);
  const known = patternOf(usable.flatMap(formsOf));
  const within = patternOf(usable.filter((secret) => secret.length > LONGEST_WORD).flatMap(formsOf));
  const withoutSecrets = (value: string): string =>
    known === undefined ? value : value.replace(known, '[removed]');
  const text = (value: string, maxLength = MAX_LENGTH): string => {
    // A fast path for the status values and codes in every poll: no other pattern can match one short word.
    if (/^\w{1,40}$/.test(value))
      return capped(withoutSecrets(value.replace(WELL_KNOWN, '[removed]')), maxLength);
    const clean = withoutSecrets(bounded(value))
      .replace(QUOTED_PATH, '$1[path]$1')
      .replace(ADDRESS, originOf)
      .replace(SCHEMELESS, '[address]');
    return capped(withoutSecrets(oneLine(replaced(clean, PATTERNS))), maxLength);
  };

  const name = (value: string, maxLength = MAX_NAME): string => {
    const clean = text(value, maxLength);
    return isSentence(clean) ? '[text]' : clean;
  };
  /** Cached, because polls repeat the same few models, resolutions and states. */
  const names = new Map<string, string>();

  return {
    text,
    name: (value, maxLength = MAX_NAME) => {
      if (value.length > MAX_NAME) return name(value, maxLength);
      const key = `${maxLength} ${value}`;
      let clean = names.get(key);
      if (clean === undefined) {
        clean = name(value, maxLength);
        if (names.size < KEPT_NAMES) names.set(key, clean);
      }
      return clean;
    },
    url: (value) => capped(withoutSecrets(originOf(value)), MAX_LENGTH),
    page: (bytes) => {
      // Latin-1 preserves every byte, whatever the page's encoding.
      const page = withoutSecrets(bytes.toString('latin1'));
      return Buffer.from(replaced(page, PAGE_PATTERNS), 'latin1');
    },
    holdsSecret: (value) =>
      withoutSecrets(value) === '[removed]' ||
      (within !== undefined && value.search(within) >= 0) ||
      namesMoreThanPlace(value),
  };
}

function namesMoreThanPlace(value: string): boolean {
  const start = value.indexOf('://');
  return start >= 0 && /[?#@]/.test(value.slice(start));
}

function replaced(text: string, patterns: readonly (readonly [RegExp, Replacement])[]): string {
  return patterns.reduce(
    // The cast is safe: `replace` has an overload for each type.
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement as string),
    text,
  );
}

/** Whether text has more words than a name and may therefore be an echoed prompt (C5.4c). */
export function isSentence(value: string): boolean {
  return (
    value.split(' ').length > MAX_NAME_WORDS ||
    (/[^\p{ASCII}]/u.test(value) && value.length > MAX_FOREIGN_NAME)
  );
}

/** Matches any of the encodings and ignores case: status values are in lower case, encodings may use either case. */
function patternOf(forms: readonly string[]): RegExp | undefined {
  if (forms.length === 0) return undefined;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'gi');
}

/** The encodings that a service may use to echo a key: unchanged, URL-encoded, in JSON, in hex, or within Base64. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const each = (form: (byte: string) => string): string =>
    [...bytes].map((byte) => form(byte.toString(16).padStart(2, '0'))).join('');
  const base64 = base64Forms(bytes);
  const all = [
    secret,
    percentEncoded(secret),
    JSON.stringify(secret).slice(1, -1),
    each((byte) => `%${byte}`),
    each((byte) => `\\u00${byte}`),
    each((byte) => `${String.fromCharCode(Number.parseInt(byte, 16))}\0`),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
  ];
  return [...new Set(all)].filter((form) => form.length >= 3);
}

/** A secret in Base64 among other bytes: all three alignments, without the letters that depend on the other bytes. */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64').replace(/={1,2}$/, '');
  // What remains of a short secret would match everywhere.
  if (bytes.length < 8) return [whole];
  return [
    whole,
    ...[0, 1, 2].map((before) => {
      const text = Buffer.concat([Buffer.alloc(before), bytes])
        .toString('base64')
        .replace(/={1,2}$/, '');
      const end = (before + bytes.length) % 3 === 0 ? text.length : text.length - 1;
      return text.slice([0, 2, 3][before], end);
    }),
  ];
}

function percentEncoded(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch (error) {
    throwBug(error);
    return secret;
  }
}

function originOf(value: string): string {
  try {
    const { origin, protocol } = new URL(value);
    return protocol === 'https:' || protocol === 'http:' ? origin : '[address]';
  } catch (error) {
    throwBug(error);
    return '[address]';
  }
}

/** Truncates long text before its last word, which may be incomplete and part of a key. */
function bounded(value: string): string {
  if (value.length <= MAX_INPUT) return value;
  let end = MAX_INPUT;
  while (end > 0 && !/\s/.test(value.charAt(end - 1))) end -= 1;
  return value.slice(0, end);
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]+/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(/ {2,}/g, ' ')
    .trim();
}

function capped(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
