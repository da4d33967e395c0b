import { dateMs } from './http-date';

/** Header values as they come from the wire: a repeated header is an array. */
export type HeaderValues = { readonly [name: string]: string | readonly string[] | undefined };

/** `retry-after`, `retry-after-ms` and what gateways make of them, such as `x-provider-retry-after` (test/fixtures/wire). */
const NAME = /^(?:[a-z0-9-]{1,60}-)?retry-after(-ms|-seconds)?$/;
const NUMBERS = /^\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?)*$/;
/** Last moment that a Date can hold. */
const END_OF_TIME = 8_640_000_000_000_000;

/**
 * How long the service asks us to stay away, in milliseconds from now; undefined when it asked for nothing that can be
 * understood (C8.7). A date is read against the reply's own `Date`: how far apart two clocks are says nothing about the
 * wait. Without one it is read against `nowMs`. Zero and a date in the past are valid and give 0; a negative number, an exponent, an
 * empty or any other text is not understood. Of several values the longest counts. A valid value is never made
 * smaller, except that the moment it names always stays one that a Date can hold.
 */
export function parseRetryAfter(headers: HeaderValues, nowMs: number): number | undefined {
  const sentAt = repliedAt(headers, nowMs) ?? nowMs;
  let longest: number | undefined;
  for (const { text, milliseconds } of valuesIn(headers)) {
    const wait = parseValue(text, milliseconds, sentAt);
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
  }
  return longest === undefined ? undefined : Math.min(longest, END_OF_TIME - nowMs);
}

/** Whether the service asks for another try at all, also where nobody can tell when. */
export function asksToRetry(headers: HeaderValues): boolean {
  return valuesIn(headers).some(({ text }) => text !== '');
}

function valuesIn(headers: HeaderValues): { readonly text: string; readonly milliseconds: boolean }[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const match = NAME.exec(name.toLowerCase());
    if (match === null || value === undefined) return [];
    const texts = typeof value === 'string' ? [value] : value;
    return texts.map((text) => ({ text: text.trim(), milliseconds: match[1] === '-ms' }));
  });
}

/** Of a repeated header the first: a proxy adds its own behind it. */
function repliedAt(headers: HeaderValues, nowMs: number): number | undefined {
  const [, value] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'date') ?? [];
  const text = typeof value === 'string' ? value : value?.[0];
  return text === undefined ? undefined : dateMs(text.trim(), nowMs);
}

function parseValue(text: string, milliseconds: boolean, sentAt: number): number | undefined {
  if (NUMBERS.test(text)) {
    const largest = text.split(',').reduce((most, part) => Math.max(most, Number(part)), 0);
    return Math.ceil(milliseconds ? largest : largest * 1000);
  }
  const at = dateMs(text, sentAt);
  return at === undefined ? undefined : Math.max(0, at - sentAt);
}
