import { dateMs } from './http-date';

/** Header values as they come from the wire: a repeated header is an array. */
export type HeaderValues = { readonly [name: string]: string | readonly string[] | undefined };

/** `retry-after`, `retry-after-ms` and what gateways make of them, such as `x-provider-retry-after` (wire-facts). */
const NAME = /^(?:[a-z0-9-]{1,60}-)?retry-after(-ms|-seconds)?$/;
const NUMBERS = /^\d+(?:\.\d+)?(?:\s*,\s*\d+(?:\.\d+)?)*$/;
/** Last moment that a Date can hold. */
const END_OF_TIME = 8_640_000_000_000_000;

/**
 * How long the service asks us to stay away, in milliseconds from `nowMs`; undefined when it asked for nothing that
 * can be understood (C8.7). Zero and a date in the past are valid and give 0; a negative number, an exponent, an
 * empty or any other text is not understood. Of several values the longest counts. A valid value is never made
 * smaller, except that the moment it names always stays one that a Date can hold.
 */
export function parseRetryAfter(headers: HeaderValues, nowMs: number): number | undefined {
  let longest: number | undefined;
  for (const [name, value] of Object.entries(headers)) {
    const match = NAME.exec(name.toLowerCase());
    if (match === null || value === undefined) continue;
    const milliseconds = match[1] === '-ms';
    for (const text of typeof value === 'string' ? [value] : value) {
      const wait = parseValue(text.trim(), milliseconds, nowMs);
      if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
    }
  }
  return longest === undefined ? undefined : Math.min(longest, END_OF_TIME - nowMs);
}

function parseValue(text: string, milliseconds: boolean, nowMs: number): number | undefined {
  if (NUMBERS.test(text)) {
    const largest = text.split(',').reduce((most, part) => Math.max(most, Number(part)), 0);
    return Math.ceil(milliseconds ? largest : largest * 1000);
  }
  const at = dateMs(text, nowMs);
  return at === undefined ? undefined : Math.max(0, at - nowMs);
}
