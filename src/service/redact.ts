/** Removes from foreign text what must never be kept or shown (contract 5.4, C5.4a to C5.4c). */
export interface Redactor {
  /** One line, at most `maxLength` characters (default 500), without keys, addresses, paths and data. */
  text(value: string, maxLength?: number): string;
  /**
   * A code, a status word, a name or a fact: kept where an error's text may not be (architecture: Stores). A sentence is no name,
   * and may be a prompt that is echoed: `[text]`. At most `maxLength` characters (default 100).
   */
  name(value: string, maxLength?: number): string;
  /** Scheme, host and port of a URL; nothing else of it is ever shown. */
  url(value: string): string;
  /** A page that is kept as it came, byte for byte, but for keys, cookies and signed addresses. */
  page(bytes: Buffer): Buffer;
  /**
   * Whether a secret of this worker, or an address with a query, is in it: what must stay as it is (an id, an ETag)
   * cannot be cleaned. A secret as short as a word counts only where it is the whole value: `vid` in `video_9f` is no
   * key that was echoed, and a paid task must not be lost for it.
   */
  holdsSecret(value: string): boolean;
}

const MAX_LENGTH = 500;
/** Keys of test services are words, which stand in ids by themselves; a key that opens anything is longer. */
const LONGEST_WORD = 11;
const MAX_NAME = 100;
/** Cleaned names that are kept; a service that sends more of them has them cleaned each time. */
const KEPT_NAMES = 1_000;
/** A status word or a public name of a model has fewer; a prompt seldom. */
const MAX_NAME_WORDS = 4;
/** Scripts without blanks between words say a sentence in this many characters. */
const MAX_FOREIGN_NAME = 16;
/** Work is bounded before any pattern runs. */
const MAX_INPUT = 16_384;

/** What stands before a key in a sentence or a record. */
const LABEL = String.raw`\b([\w.-]{0,40}(?:(?:api|access)[ _-]?key|token|secret|signature|password|credential|x-amz-[\w-]{1,40}|sig))`;
/** Between the two, also in the words of a service: `Incorrect API key provided: …`. */
const VERB = String.raw`(?:\s+(?:provided|given|is|was))?`;
const VALUE = String.raw`[^\s"'<>,;&]`;

/** Keys of well-known services begin alike, and may stand alone. */
const WELL_KNOWN =
  /\b(?:AIza[\w-]{10,}|gsk_\w{6,}|A[KS]IA[A-Z0-9]{12,}|gh[oprsu]_\w{16,}|github_pat_\w{16,}|xox[a-z]-[\w-]{6,})/g;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\bdata:[a-z0-9.+/;=-]{0,100},[^\s"'<>]*/gi, '[data]'],
  [/\b(?:authorization|proxy-authorization|set-cookie|cookie)["']?\s*[:=][^\n\r]*/gi, '[removed]'],
  [/\bbearer\s+[^\s"'<>,;]{6,}/gi, '[removed]'],
  [/\bhttps?%3a%2f%2f[^\s"'<>]*/gi, '[address]'],
  [new RegExp(`${LABEL}(["']?${VERB}\\s*[:=]\\s*["']?)${VALUE}+`, 'gi'), '$1$2[removed]'],
  // Without a sign between them, a value is what has a digit: "the password is required" stays.
  [new RegExp(`${LABEL}(${VERB}\\s+["'(]?)(?=${VALUE}{0,200}\\d)${VALUE}{6,}`, 'gi'), '$1$2[removed]'],
  [WELL_KNOWN, '[removed]'],
  [/\bsk-[\w-]{6,}/g, '[removed]'],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, '[removed]'],
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

/** What is signed or opens a door in a page, also where JSON has escaped its slashes. */
const PAGE_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:authorization|proxy-authorization|set-cookie|cookie)["']?\s*[:=][^\n\r<]*/gi, '[removed]'],
  [/\b[a-z][a-z0-9+.-]{0,20}:(?:\\?\/){2}[^\s"'<>`]*[?@][^\s"'<>`]*/gi, '[address]'],
  [/\bhttps?%3a%2f%2f[^\s"'<>]*/gi, '[address]'],
  [/\?[\w.%~-]{1,80}=[^\s"'<>]*/g, '[query]'],
  [/\b([\w.-]{0,40}(?:signature|x-amz-[\w-]{1,40}|sig)["']?\s*[:=]\s*["']?)[^\s"'<>,;&]+/gi, '$1[removed]'],
];

/** A redactor that also knows the secrets of this worker. It keeps them in memory only. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const usable = [...secrets].filter((secret) => secret.length >= 3);
  const known = patternOf(usable.flatMap(formsOf));
  const within = patternOf(usable.filter((secret) => secret.length > LONGEST_WORD).flatMap(formsOf));
  const withoutSecrets = (value: string): string =>
    known === undefined ? value : value.replace(known, '[removed]');
  const text = (value: string, maxLength = MAX_LENGTH): string => {
    // Status words and codes come with every poll: no other pattern can match in one short word.
    if (/^\w{1,40}$/.test(value))
      return capped(withoutSecrets(value.replace(WELL_KNOWN, '[removed]')), maxLength);
    let clean = withoutSecrets(bounded(value));
    clean = clean
      .replace(QUOTED_PATH, '$1[path]$1')
      .replace(ADDRESS, originOf)
      .replace(SCHEMELESS, '[address]');
    for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
    return capped(withoutSecrets(oneLine(clean)), maxLength);
  };

  const name = (value: string, maxLength = MAX_NAME): string => {
    const clean = text(value, maxLength);
    return isSentence(clean) ? '[text]' : clean;
  };
  /** Names of models, resolutions and states come with every poll, and are few. */
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
      // Latin-1 keeps every byte, whatever the encoding of the page is.
      let page = withoutSecrets(bytes.toString('latin1'));
      for (const [pattern, replacement] of PAGE_PATTERNS) page = page.replace(pattern, replacement);
      return Buffer.from(page, 'latin1');
    },
    holdsSecret: (value) =>
      withoutSecrets(value) === '[removed]' ||
      (within !== undefined && value.search(within) >= 0) ||
      /:\/\/[^?#]*[?#@]/.test(value),
  };
}

/** More words than a name has: it may be a prompt that is echoed (C5.4c). */
export function isSentence(value: string): boolean {
  return (
    value.split(' ').length > MAX_NAME_WORDS ||
    (/[^\p{ASCII}]/u.test(value) && value.length > MAX_FOREIGN_NAME)
  );
}

/** Case is not looked at: a status word comes in lower case, an encoding in either. */
function patternOf(forms: readonly string[]): RegExp | undefined {
  if (forms.length === 0) return undefined;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'gi');
}

/** The ways in which a service echoes a key: as it is, in a URL, in JSON, in hex, in Base64 behind other bytes. */
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

/** As Base64 in a row of other bytes: three ways to begin, without the letters that neighbours decide too. */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64').replace(/=+$/, '');
  // Of a short secret too little would be left, and it would be found everywhere.
  if (bytes.length < 8) return [whole];
  return [
    whole,
    ...[0, 1, 2].map((before) => {
      const text = Buffer.concat([Buffer.alloc(before), bytes])
        .toString('base64')
        .replace(/=+$/, '');
      const end = (before + bytes.length) % 3 === 0 ? text.length : text.length - 1;
      return text.slice([0, 2, 3][before], end);
    }),
  ];
}

function percentEncoded(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret;
  }
}

function originOf(value: string): string {
  try {
    const { origin, protocol } = new URL(value);
    return protocol === 'https:' || protocol === 'http:' ? origin : '[address]';
  } catch {
    return '[address]';
  }
}

/** A cut text loses its last word too: it may be the first half of a key. */
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
