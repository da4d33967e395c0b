import { replyHeaders } from '../../../src/service/read-replies';
import { createRedactor } from '../../../src/service/redact';
import {
  type ContentHeaders,
  contentHeaders,
  type HeaderValues,
  parseRetryAfter,
} from '../../../src/service/reply-headers';
import { type FuzzedParser } from './fuzzed-parser';

const NOW = Date.UTC(2026, 0, 1);
const KEY = 'key-of-the-fuzzed-service';
const redactor = createRedactor([KEY]);

/** `name: value` lines as a client of HTTP gives them: names in lower case, a repeated one as a list. */
function headersOf(input: Buffer): HeaderValues {
  const headers = new Map<string, string | string[]>();
  for (const line of input.toString('latin1').split('\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    if (Array.isArray(before)) before.push(value);
    else headers.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(headers);
}

const text = (...lines: readonly string[]) => Buffer.from(lines.join('\n'), 'latin1');

function wrongContent(result: unknown): string | undefined {
  const { contentType, contentLength, contentRange, etag, contentEncoding } = result as ContentHeaders;
  if (contentLength !== null && !(Number.isSafeInteger(contentLength) && contentLength >= 0))
    return 'a length';
  if ((contentType?.length ?? 0) > 200 || (contentEncoding?.length ?? 0) > 100) return 'a long text';
  if (etag !== null && !/^"[^"\s]*"$/.test(etag)) return 'an ETag that is not strong';
  if (contentRange === null) return undefined;
  const { from, to, total } = contentRange;
  return from >= 0 && from <= to && (total === null || to < total) ? undefined : 'a range that is none';
}

/** Readers of the headers that the service sends. */
export const HEADER_PARSERS: readonly FuzzedParser[] = [
  {
    name: 'retry-after and http dates',
    form: 'bytes',
    seeds: [
      text('retry-after: 120'),
      text('retry-after: Thu, 01 Jan 2026 00:02:00 GMT'),
      text('retry-after: Thursday, 01-Jan-26 00:02:00 GMT'),
      text('retry-after: Thu Jan  1 00:02:00 2026'),
      text('retry-after: 1.5', 'retry-after-ms: 1500', 'x-provider-retry-after: 3, 4'),
    ],
    words: ['retry-after', '-ms', '-seconds', 'GMT', 'Feb', '29', '2100', '24:00:00', '23:59:60', ',', '9'],
    parse: (input) => parseRetryAfter(headersOf(input), NOW),
    wrong: (result) => {
      if (result === undefined) return undefined;
      const wait = result as number;
      if (!Number.isInteger(wait) || wait < 0) return `a wait of ${wait}`;
      return Number.isNaN(new Date(NOW + wait).getTime()) ? 'a moment that no Date holds' : undefined;
    },
  },
  {
    name: 'content headers',
    form: 'bytes',
    seeds: [
      text('content-type: video/mp4', 'content-length: 1024', 'etag: "abc"', 'content-encoding: identity'),
      text('content-range: bytes 0-99/100', 'content-length: 100', 'etag: W/"abc"'),
      text('content-range: bytes 5-*/100', 'content-encoding: gzip', 'content-type: text/html'),
    ],
    words: [
      'content-range',
      'bytes',
      '/*',
      'content-length',
      'etag',
      'W/',
      '"',
      'content-encoding',
      '-',
      '/',
    ],
    parse: (input) => contentHeaders(headersOf(input)),
    wrong: wrongContent,
  },
  {
    name: 'reply headers that are kept',
    form: 'bytes',
    seeds: [
      text(
        'x-request-id: req-1',
        'date: Thu, 01 Jan 2026 00:00:00 GMT',
        'set-cookie: session=abc',
        'cf-ray: 1-A',
      ),
      text('x-request-id: https://u:p@media.example/a?sig=abc', `retry-after: ${KEY}`, 'server: x'),
    ],
    words: [
      'x-request-id',
      'date',
      'cookie',
      'set-cookie',
      'authorization: Bearer ',
      KEY,
      '__proto__',
      '?a=',
    ],
    parse: (input) => replyHeaders(headersOf(input), redactor),
    wrong: (result) => {
      const kept = Object.entries(result as Record<string, string>);
      if (kept.some(([name]) => /cookie|authorization/.test(name))) return 'a secret header';
      if (kept.some(([, value]) => value.length > 200 || value.includes(KEY)))
        return 'a long or secret value';
      // eslint-disable-next-line no-control-regex
      return kept.some(([, value]) => /[\u0000-\u001f]/.test(value)) ? 'a control character' : undefined;
    },
  },
];
