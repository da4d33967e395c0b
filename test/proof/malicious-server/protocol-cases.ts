import { fileAnswer, inTurn, status } from '../../activities/download-harness';
import { length, type DownloadCase } from './download-case';
import { ok, raw, reply, reset } from './raw-answers';

/** What is hardly HTTP, and every way to say when to come back. */
export const PROTOCOLS: readonly DownloadCase[] = [
  { name: 'a reset', content: () => reset, ends: 'not_ready' },
  { name: 'a closed connection', content: () => raw(), ends: 'not_ready' },
  { name: 'another protocol', content: () => raw('SSH-2.0-OpenSSH_9.2\r\n'), ends: 'not_ready' },
  { name: 'a TLS alert', content: () => raw(Buffer.from('15030100020228', 'hex')), ends: 'not_ready' },
  { name: 'HTTP/0.9', content: ({ video }) => raw(video), ends: 'not_ready' },
  { name: 'a preface of HTTP/2', content: () => raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), ends: 'not_ready' },
  {
    name: 'status 999',
    content: ({ video }) => reply(['HTTP/1.1 999 Odd', length(video)], video),
    ends: 'not_ready',
  },
  {
    name: 'status 000',
    content: ({ video }) => reply(['HTTP/1.1 000 Odd', length(video)], video),
    ends: 'not_ready',
  },
  {
    name: 'another protocol by 101',
    content: ({ video }) =>
      reply(['HTTP/1.1 101 Switching Protocols', 'upgrade: x', 'connection: upgrade'], video),
    ends: 'not_ready',
  },
  {
    name: 'a NUL in a header',
    content: ({ video }) => ok([length(video), 'x-a: a\0b'], video),
    ends: 'not_ready',
  },
  {
    name: 'a header of 1 MB',
    content: ({ video }) => ok([length(video), `x-a: ${'a'.repeat(1_000_000)}`], video),
    ends: 'not_ready',
  },
  ...[
    '0',
    '-5',
    '1e99',
    '1.5',
    'soon',
    '',
    'Wed, 21 Oct 2015 07:28:00 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    '\t7\t',
  ].map((wait): DownloadCase => ({
    name: `Retry-After: ${JSON.stringify(wait.slice(0, 30))}`,
    content: (m) =>
      inTurn(reply(['HTTP/1.1 503 Busy', `retry-after: ${wait}`, 'content-length: 0']), fileAnswer(m.video)),
    ends: 'video',
  })),
  ...['99999999', '9'.repeat(10_000), 'Fri, 31 Dec 9999 23:59:59 GMT'].map((wait): DownloadCase => ({
    name: `Retry-After: ${wait.slice(0, 30)}`,
    content: (m) => inTurn(status(503, '', { 'retry-after': wait }), fileAnswer(m.video)),
    ends: 'not_ready',
  })),
  {
    name: 'two fields of Retry-After',
    content: (m) =>
      inTurn(
        reply(['HTTP/1.1 503 Busy', 'retry-after: 1', 'retry-after: 2', 'content-length: 0']),
        fileAnswer(m.video),
      ),
    ends: 'video',
  },
];
