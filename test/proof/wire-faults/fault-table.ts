import { gzipSync } from 'node:zlib';
import * as s from './script';
import { type Operation, type Script } from './script';

/**
 * What one fault must come to. Paid calls: `C` a task or images, `N cause` nothing was sent, `R reason` refused, `U cause`
 * nobody knows (failure model: Four classes). Poll: `record` or the class of the error. Content: `downloaded`, or `again` and
 * `end` with the typed reason. An operation that is not named cannot meet the fault.
 */
export type Expected = { readonly [operation in Operation]?: string };

export interface Fault extends Expected {
  readonly name: string;
  /** Row of failure model: Every point of failure; null for a status that is in none, which proves nothing. */
  readonly row: number | null;
  readonly does: Script;
  /** Two ends race each other: begins of words that may come out, each of them true when it does. */
  readonly raced?: readonly string[];
}

const paid = (word: string): Expected => ({ create: word, edit: word });
const WELL = { ...paid('C'), poll: 'record', content: 'downloaded' };
const AGAIN = { poll: 'network', content: 'again network' };
const unsent = (cause: string): Expected => ({ ...paid(`N ${cause}`), ...AGAIN });
const LOST = { ...paid('U connection_lost_after_send'), ...AGAIN };
const LATE = { ...paid('U timeout_after_send'), ...AGAIN };
const NOT_HTTP = { ...paid('U reply_not_http'), ...AGAIN };
const CUT = { ...paid('U reply_truncated'), ...AGAIN };
const UNREADABLE = { ...paid('U reply_unreadable'), poll: 'unreadable', content: 'again not_video' };

const { afterHead, afterRequest, answer, before, connectGets, fin, firstPart, hanging, inBody, inTurn } = s;
const { inTunnel, noTls, onAccept, overTls, replyText, reset, say, silence } = s;
const half = (of: 'head' | number, given?: s.Answer): s.Act => say(firstPart(of, given));
const interim = (count: number): string => 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(count);
const cut = (good: Buffer): Buffer => good.subarray(0, good.length - 9);
const ALERT = Buffer.from('15030300020228', 'hex');

/** The connection: rows 20 and 22. */
// prettier-ignore
const TCP: readonly Fault[] = [
  { name: 'nobody listens', row: 20, does: { ...onAccept(silence), nobody: 'port' }, ...unsent('connection_refused') },
  { name: 'the name does not exist', row: 20, does: { ...onAccept(silence), nobody: 'name' }, ...unsent('host_not_found') },
  { name: 'reset at accept', row: 22, does: onAccept(reset), ...LOST, raced: ['N connection_reset', 'U connection_lost'] },
  { name: 'closed at accept', row: 22, does: onAccept(s.close), ...LOST, raced: ['N connection_reset', 'U connection_lost'] },
  { name: 'half-closed at accept, the request is read', row: 22, does: onAccept(fin), ...LOST },
  { name: 'taken and never read', row: 22, does: hanging(onAccept(s.stopReading)), ...LATE },
  { name: 'reset after the head', row: 22, does: afterHead(reset), ...LOST },
  { name: 'closed after the head', row: 22, does: afterHead(fin), ...LOST },
  { name: 'reset in the body', row: 22, does: inBody(reset), ...paid('U connection_lost_after_send') },
  { name: 'closed in the body', row: 22, does: inBody(fin), ...paid('U connection_lost_after_send') },
  { name: 'reading stops in the body', row: 22, does: hanging(inBody(s.stopReading)), ...paid('U timeout_after_send') },
  { name: 'reset after the request', row: 22, does: afterRequest(reset), ...LOST },
  { name: 'closed after the request', row: 22, does: afterRequest(fin), ...LOST },
  { name: 'silence after the request', row: 22, does: hanging(afterRequest(silence)), ...LATE },
  { name: 'reset in the status line', row: 22, does: afterRequest(inTurn(say('HTTP/1.1 2'), reset)), ...LOST },
  { name: 'reset in the head of the reply', row: 22, does: afterRequest(inTurn(half('head'), reset)), ...LOST },
  { name: 'closed in the head of the reply', row: 22, does: afterRequest(inTurn(half('head'), fin)), ...LOST },
  { name: 'silence in the head of the reply', row: 22, does: hanging(afterRequest(half('head'))), ...LATE },
  { name: 'reset in the body of the reply', row: 32, does: afterRequest(inTurn(half(0.5), reset)), ...CUT },
  { name: 'silence in the body of the reply', row: 32, does: hanging(afterRequest(half(0.5))), ...LATE },
  { name: 'keep-alive connection closed while idle', row: 25, does: before('closed', afterRequest(answer())), ...WELL },
  { name: 'keep-alive connection reset while idle', row: 25, does: before('reset', afterRequest(answer())), ...WELL },
  { name: 'keep-alive connection reset while it is written to', row: 22, does: before('kept', afterHead(reset)), ...LOST },
  { name: 'keep-alive connection closed while it is written to', row: 22, does: before('kept', afterHead(fin)), ...LOST },
];

/** The handshake: row 20. */
// prettier-ignore
const TLS: readonly Fault[] = [
  { name: 'plain text on the port of TLS', row: 20, does: noTls(say('HTTP/1.1 400 Bad Request\r\n\r\n')), ...unsent('tls_failed') },
  { name: 'closed at the ClientHello', row: 20, does: noTls(fin), ...unsent('connection_reset') },
  { name: 'reset at the ClientHello', row: 20, does: noTls(reset), ...unsent('connection_reset') },
  { name: 'silence after the ClientHello', row: 20, does: hanging(noTls(silence)), ...unsent('connect_timeout') },
  { name: 'an alert instead of a ServerHello', row: 20, does: noTls(say(ALERT)), ...unsent('tls_failed') },
  { name: 'a certificate of an unknown authority', row: 20, does: overTls('unknown', afterRequest(answer())), ...unsent('certificate_not_trusted for good') },
  { name: 'a certificate that has expired', row: 20, does: overTls('expired', afterRequest(answer())), ...unsent('certificate_not_trusted for good') },
  { name: 'a certificate for another name', row: 20, does: overTls('other_name', afterRequest(answer())), ...unsent('certificate_not_trusted for good') },
  { name: 'inside TLS: reset after the request', row: 22, does: overTls('trusted', afterRequest(reset)), ...LOST },
  { name: 'inside TLS: a body without length, cut without close_notify', row: 32, does: overTls('trusted', afterRequest(inTurn(answer({ body: cut, framing: 'none' }), s.close))), ...UNREADABLE, content: 'again incomplete_file' },
  { name: 'inside TLS: no fault at all', row: 22, does: overTls('trusted', afterRequest(answer())), ...WELL },
];

/** The own egress proxy: row 21. */
// prettier-ignore
const PROXY: readonly Fault[] = [
  { name: 'CONNECT is answered 407', row: 21, does: connectGets(say('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n')), ...unsent('proxy_refused') },
  { name: 'CONNECT is answered 502', row: 21, does: connectGets(say('HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n')), ...unsent('proxy_refused') },
  { name: 'CONNECT is answered by a reset', row: 21, does: connectGets(reset), ...unsent('connection_reset') },
  { name: 'CONNECT is answered with no HTTP', row: 21, does: connectGets(say('SSH-2.0-x\r\n\r\n')), ...unsent('connection_failed') },
  { name: 'CONNECT is never answered', row: 21, does: hanging(connectGets(silence)), ...unsent('connect_timeout') },
  { name: 'in a tunnel: reset after the request', row: 22, does: inTunnel(afterRequest(reset)), ...LOST },
  { name: 'in a tunnel: 502 of a gateway', row: 30, does: inTunnel(afterRequest(answer({ status: '502 Bad', body: '' }))), ...paid('U http_502'), poll: 'unavailable', content: 'again unavailable' },
];

/** Interim replies: row 36. */
// prettier-ignore
const INTERIM: readonly Fault[] = [
  { name: '103 twenty times, then closed', row: 36, does: afterRequest(inTurn(say(interim(20)), fin)), ...LOST },
  { name: '103 and 102, then the reply', row: 36, does: afterRequest(inTurn(say(interim(2)), say('HTTP/1.1 102 Processing\r\n\r\n'), answer())), ...WELL },
  { name: '103 without an end', row: 36, does: hanging(afterRequest(s.sayForEver(interim(1), 50))), ...LATE },
  { name: '100 that nobody asked for, then the reply', row: 36, does: afterRequest(inTurn(say('HTTP/1.1 100 Continue\r\n\r\n'), answer())), ...LOST },
  { name: '101 that nobody asked for', row: 36, does: afterRequest(say('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')), ...LOST },
  { name: 'status 099', row: 36, does: afterRequest(inTurn(answer({ status: '099 Odd' }), fin)), ...LOST },
];

/** Replies that are no HTTP, or two kinds of it: rows 22 and 32. */
// prettier-ignore
const FRAMING: readonly Fault[] = [
  { name: 'another protocol', row: 22, does: afterRequest(say('SSH-2.0-x\r\n\r\n')), ...NOT_HTTP },
  { name: 'a body without a head', row: 22, does: afterRequest(inTurn(say(({ good }) => good.body), fin)), ...NOT_HTTP },
  { name: 'a head of 40 kB', row: 22, does: afterRequest(answer({ headers: [`x: ${'a'.repeat(40_000)}`] })), ...NOT_HTTP },
  { name: 'a NUL in a header', row: 22, does: afterRequest(answer({ headers: ['x: a\0b'] })), ...NOT_HTTP },
  { name: 'a length and chunks at once', row: 22, does: afterRequest(answer({ headers: ['content-length: 5'], framing: 'chunked' })), ...NOT_HTTP },
  { name: 'two lengths', row: 22, does: afterRequest(answer({ headers: ['content-length: 3'] })), ...NOT_HTTP },
  { name: 'a negative length', row: 22, does: afterRequest(answer({ headers: ['content-length: -5'], framing: 'none' })), ...NOT_HTTP },
  { name: 'a length that is too short', row: 32, does: afterRequest(answer({ headers: ['content-length: 9'], framing: 'none' })), ...UNREADABLE, content: 'again incomplete_file' },
  { name: 'a length that is too long', row: 32, does: afterRequest(inTurn(answer({ headers: ['content-length: 999999'], framing: 'none' }), fin)), ...CUT },
  { name: 'chunks that are cut', row: 32, does: afterRequest(inTurn(half(0.5, { framing: 'chunked' }), fin)), ...CUT },
  { name: 'a chunk of no size', row: 32, does: afterRequest(answer({ headers: ['transfer-encoding: chunked'], body: 'zz\r\n{}\r\n', framing: 'none' })), ...CUT },
  { name: 'no length, whole', row: 32, does: afterRequest(inTurn(answer({ framing: 'none' }), fin)), ...WELL },
  { name: 'no length, cut', row: 32, does: afterRequest(inTurn(answer({ framing: 'none', body: cut }), fin)), ...UNREADABLE, content: 'again incomplete_file' },
  { name: 'trailers', row: 32, does: afterRequest(say((peer) => Buffer.concat([replyText({ framing: 'chunked' })(peer).subarray(0, -2), Buffer.from('x-end: 1\r\n\r\n')]))), ...WELL },
  { name: 'one byte at a time', row: 32, does: afterRequest(s.sayByteByByte(replyText())), ...WELL },
  { name: 'two replies to one request', row: 32, does: afterRequest(say((peer) => Buffer.concat([replyText()(peer), replyText()(peer)]))), ...WELL },
  { name: 'HTTP/1.0', row: 32, does: afterRequest(inTurn(say((peer) => replyText({ framing: 'none' })(peer).toString('latin1').replace('1.1', '1.0')), fin)), ...WELL },
];

/** A whole 2xx that does not say what it should: rows 32 to 34. */
// prettier-ignore
const CONTENT: readonly Fault[] = [
  { name: 'gzip', row: 32, does: afterRequest(answer({ headers: ['content-encoding: gzip'], body: (good) => gzipSync(good) })), ...WELL, content: 'again no_picture' },
  { name: 'gzip that is none', row: 32, does: afterRequest(answer({ headers: ['content-encoding: gzip'] })), ...UNREADABLE, content: 'again no_picture' },
  { name: 'an encoding that nobody knows', row: 32, does: afterRequest(answer({ headers: ['content-encoding: x-odd'] })), ...UNREADABLE, content: 'again no_picture' },
  { name: 'a page', row: 32, does: afterRequest(answer({ headers: ['content-type: text/html'], body: '<html>busy</html>' })), ...UNREADABLE },
  { name: 'the right body under a wrong type', row: 32, does: afterRequest(answer({ headers: ['content-type: text/html'] })), ...WELL },
  { name: 'more than 1 MiB', row: 32, does: afterRequest(answer({ body: (good) => Buffer.concat([Buffer.alloc(1_100_000, ' '), good]) })), ...WELL, create: 'U reply_too_large', content: 'again not_video' },
  { name: 'nothing', row: 32, does: afterRequest(answer({ body: '' })), ...UNREADABLE },
  { name: '204', row: 32, does: afterRequest(answer({ status: '204 None', body: '', framing: 'none' })), ...UNREADABLE, content: 'again missing' },
  { name: '206 of nothing that was asked for', row: 32, does: afterRequest(answer({ status: '206 Part' })), ...WELL, content: 'again incomplete_file' },
  { name: 'JSON of 100 levels', row: 32, does: afterRequest(answer({ body: `${'['.repeat(100)}${']'.repeat(100)}` })), ...UNREADABLE },
  { name: 'a byte order mark', row: 32, does: afterRequest(answer({ body: (good) => Buffer.concat([Buffer.from('efbbbf', 'hex'), good]) })), ...WELL, content: 'again no_picture' },
  { name: 'an object without anything', row: 33, does: afterRequest(answer({ body: '{}' })), create: 'U reply_without_id', edit: 'U reply_without_data', poll: 'unreadable', content: 'again not_video' },
  { name: 'an id or data that is null', row: 33, does: afterRequest(answer({ body: '{"id":null,"data":null}' })), create: 'U reply_without_id', edit: 'U reply_without_data', poll: 'unreadable', content: 'again not_video' },
  ...['""', '7.5', '{}', '"."', '".."', `"${'x'.repeat(513)}"`, '"a\\u0000b"', '"\\ud800"'].map((id) => ({
    name: `the id ${id.slice(0, 12)}`,
    row: 33,
    does: afterRequest(answer({ body: `{"id":${id},"data":${id},"status":"queued"}` })),
    create: 'U reply_without_id',
    edit: 'U reply_without_data',
  })),
  { name: 'an id that looks like a path', row: 33, does: afterRequest(answer({ body: '{"id":"../../x"}' })), create: 'C' },
  { name: 'a task that has failed already', row: 34, does: afterRequest(answer({ body: '{"id":"a","status":"failed"}' })), create: 'C' },
];

/** Replies that come before the request has gone out: rows 22 and 23. */
// prettier-ignore
const EARLY: readonly Fault[] = [
  { name: 'the reply comes in mid-upload, the rest is read', row: 22, does: inBody(answer()), ...paid('C') },
  { name: '413 in mid-upload, the rest is read', row: 23, does: inBody(answer({ status: '413 Large', body: '' })), ...paid('R invalid_request') },
  { name: '413 in mid-upload and a reset', row: 23, does: inBody(inTurn(answer({ status: '413 Large', body: '' }), reset)), ...paid('R invalid_request'), raced: ['R invalid_request', 'U connection_lost'] },
  { name: '400 whose body is cut', row: 23, does: afterRequest(inTurn(half(0.5, { status: '400 Bad' }), fin)), ...paid('R invalid_request'), poll: 'bad_request', content: 'again missing' },
  { name: '502 whose body is cut', row: 30, does: afterRequest(inTurn(half(0.5, { status: '502 Bad' }), fin)), ...paid('U http_502'), poll: 'unavailable', content: 'again unavailable' },
];

/** Status, row, paid call without and with Retry-After, poll, content: rows 23 to 31 and 35. */
export const STATUSES: readonly (readonly [number, number | null, string, string, string, string])[] = [
  [400, 23, 'R invalid_request', 'R invalid_request', 'bad_request', 'missing'],
  [401, 23, 'R credentials', 'R credentials', 'credentials', 'credentials'],
  [402, 24, 'R quota', 'R quota', 'credentials', 'missing'],
  [403, 23, 'R credentials', 'R credentials', 'credentials', 'credentials'],
  [404, 23, 'R invalid_request', 'R invalid_request', 'not_found', 'missing'],
  [405, 23, 'R invalid_request', 'R invalid_request', 'bad_request', 'missing'],
  [408, 25, 'U http_408', 'U http_408', 'unavailable', 'unavailable'],
  [409, 26, 'U http_409', 'U http_409', 'unavailable', 'missing'],
  [410, null, 'U http_410', 'U http_410', 'not_found', 'expired'],
  [413, 23, 'R invalid_request', 'R invalid_request', 'bad_request', 'missing'],
  [415, 23, 'R invalid_request', 'R invalid_request', 'bad_request', 'missing'],
  [418, null, 'U http_418', 'U http_418', 'bad_request', 'missing'],
  [422, 23, 'R invalid_request', 'R invalid_request', 'bad_request', 'missing'],
  [425, 27, 'R for now', 'R for now', 'unavailable', 'unavailable'],
  [429, 28, 'R for now', 'R for now', 'rate_limited', 'rate_limited'],
  [451, null, 'U http_451', 'U http_451', 'bad_request', 'missing'],
  [500, 29, 'U http_500', 'U http_500', 'unavailable', 'unavailable'],
  [501, null, 'U http_501', 'U http_501', 'unavailable', 'unavailable'],
  [502, 30, 'U http_502', 'U http_502', 'unavailable', 'unavailable'],
  [503, 31, 'U http_503', 'R for now', 'unavailable', 'unavailable'],
  [504, 30, 'U http_504', 'U http_504', 'unavailable', 'unavailable'],
  [520, null, 'U http_520', 'U http_520', 'unavailable', 'unavailable'],
  [599, null, 'U http_599', 'U http_599', 'unavailable', 'unavailable'],
  [999, null, 'U http_999', 'U http_999', 'unavailable', 'unavailable'],
];

/** What every reply with Retry-After asks for, in seconds. */
export const RETRY_AFTER_SECONDS = 120;

const STATUS_FAULTS: readonly Fault[] = STATUSES.flatMap(([status, row, bare, waiting, poll, content]) =>
  [bare, waiting].map((word, index) => ({
    name: `HTTP ${status}${index === 0 ? '' : ' with Retry-After'}`,
    row,
    does: afterRequest(
      answer({
        status: `${status} No`,
        body: '',
        headers: index === 0 ? [] : [`retry-after: ${RETRY_AFTER_SECONDS}`],
      }),
    ),
    ...paid(word),
    poll,
    content: `again ${content}`,
  })),
);

/** Redirects: row 35. Only a download follows one, and 304 and 305 are none. */
const REDIRECTS: readonly Fault[] = [300, 301, 302, 303, 304, 305, 307, 308].flatMap((status) =>
  ['{trap}/x', '/v1/elsewhere/content'].map((location, index) => ({
    name: `HTTP ${status} to ${index === 0 ? 'another origin' : 'another path'}`,
    row: 35,
    does: afterRequest(answer({ status: `${status} Go`, body: '', headers: [`location: ${location}`] })),
    ...paid(`U http_${status}`),
    poll: 'unreadable',
    content: [300, 304, 305].includes(status) ? 'again missing' : 'downloaded',
  })),
);

/** Every fault, with what it must come to. */
export const FAULTS: readonly Fault[] = [
  ...TCP,
  ...TLS,
  ...PROXY,
  ...INTERIM,
  ...FRAMING,
  ...CONTENT,
  ...EARLY,
  ...STATUS_FAULTS,
  ...REDIRECTS,
];
