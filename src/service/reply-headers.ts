import { type Redactor } from './redact';
import { type HeaderValues } from './retry-after';
import { type ReplyHeaders } from './send-result';

/** Headers that help a person to find one request in the logs of a service, and hold nothing secret. */
const ALLOWED: readonly string[] = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-trace-id',
  'x-amzn-requestid',
  'x-amz-request-id',
  'x-ms-request-id',
  'cf-ray',
  'date',
  'retry-after',
];

/** Written in words of their own, which a name is not. */
const TIME = /^(?:[A-Z][a-z]{2,8}, )?[\w: .-]{1,40}$/;
const TIMES: ReadonlySet<string> = new Set(['date', 'retry-after']);

/** The allow-listed headers of a reply, cleaned and capped (C5.4a). */
export function replyHeaders(headers: HeaderValues, redactor: Redactor): ReplyHeaders {
  const kept: Record<string, string> = {};
  for (const name of ALLOWED) {
    const value = headers[name];
    if (value === undefined) continue;
    const whole = typeof value === 'string' ? value : value.join(', ');
    const isTime = TIMES.has(name) && TIME.test(whole) && (/^\d/.test(whole) || !isNaN(Date.parse(whole)));
    const text = isTime ? redactor.text(whole, 60) : redactor.name(whole, 200);
    if (text !== '') kept[name] = text;
  }
  return kept;
}
