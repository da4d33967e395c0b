/** Removes from foreign text what must never be kept or shown (contract 5.4, C5.4a to C5.4c). */
export interface Redactor {
  /** One line, at most `maxLength` characters (default 500), without keys, addresses, paths and data. */
  text(value: string, maxLength?: number): string;
  /** Scheme, host and port of a URL; nothing else of it is ever shown. */
  url(value: string): string;
}

const MAX_LENGTH = 500;
/** Work is bounded before any pattern runs. */
const MAX_INPUT = 16_384;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\bdata:[a-z0-9.+/;=-]{0,100},[^\s"'<>]*/gi, '[data]'],
  [/\b(?:authorization|proxy-authorization|set-cookie|cookie)["']?\s*[:=][^\n\r]*/gi, '[removed]'],
  [/\bbearer\s+[^\s"'<>,;]{6,}/gi, '[removed]'],
  [/\bhttps?%3a%2f%2f[^\s"'<>]*/gi, '[address]'],
  [
    /\b([\w.-]{0,40}(?:api[_-]?key|access[_-]?key|token|secret|signature|password|credential|x-amz-[\w-]{1,40}|sig))(["']?\s*[:=]\s*["']?)[^\s"'<>,;&]+/gi,
    '$1$2[removed]',
  ],
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

/** A redactor that also knows the secrets of this worker. It keeps them in memory only. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const forms = [...secrets].filter((secret) => secret.length >= 3).flatMap(formsOf);
  forms.sort((a, b) => b.length - a.length);
  const withoutSecrets = (value: string): string =>
    forms.reduce((text, form) => text.replaceAll(form, '[removed]'), value);

  return {
    text: (value, maxLength = MAX_LENGTH) => {
      // Status words and codes come with every poll: no pattern can match in one short word.
      if (/^\w{1,40}$/.test(value)) return capped(withoutSecrets(value), maxLength);
      let text = withoutSecrets(bounded(value));
      text = text
        .replace(QUOTED_PATH, '$1[path]$1')
        .replace(ADDRESS, originOf)
        .replace(SCHEMELESS, '[address]');
      for (const [pattern, replacement] of PATTERNS) text = text.replace(pattern, replacement);
      return capped(withoutSecrets(oneLine(text)), maxLength);
    },
    url: (value) => capped(withoutSecrets(originOf(value)), MAX_LENGTH),
  };
}

/** The ways in which a service echoes a key: as it is, in a URL, in JSON, in Base64. */
function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const all = [
    secret,
    percentEncoded(secret),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
    Buffer.from(secret).toString('hex'),
  ];
  return [...new Set(all)].filter((form) => form.length >= 3);
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
