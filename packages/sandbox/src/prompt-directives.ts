import { nearNames } from 'temporal-media/internal/domain/near-names';
import { type FaultAction } from './faults';
import { type FailureKind } from './tasks';

/** The effects of the directives in one prompt. */
export interface DirectiveEffects {
  /** Applied once to the paid call that contains the prompt. */
  onSubmit: FaultAction[];
  /** Applied to the task's content endpoint, in this order. */
  onContent: { action: FaultAction; times: number }[];
  /** Applied to the task's polls. */
  onPoll: { action: FaultAction; times: number }[];
  fails?: FailureKind;
  queuedMs?: number;
  runningMs?: number;
  /** Images only: form of the results, regardless of `response_format`. */
  resultForm?: 'url' | 'b64_json';
  /** Images only: number of results instead of `n`. */
  resultCount?: number;
}

interface Directive {
  /** Matches the directive as written in a prompt, without the brackets. */
  pattern: RegExp;
  example: string;
  meaning: string;
  apply(effects: DirectiveEffects, groups: string[]): void;
}

const seconds = (text: string | undefined): number => Math.round(Number(text ?? 0) * 1000);

/** Every directive that a prompt may contain in square brackets. A prompt may contain several. */
export const promptDirectives: readonly Directive[] = [
  {
    pattern: /^fail:(moderation|capacity|invalid|quota|unknown)$/,
    example: '[fail:moderation]',
    meaning: 'the task fails at the end; the shape of the error varies from task to task',
    apply: (effects, [kind]) => {
      effects.fails = kind as FailureKind;
    },
  },
  {
    pattern: /^lost-reply(?::(reset|close|stall|stall_body|cut_body))?$/,
    example: '[lost-reply], [lost-reply:stall]',
    meaning: 'the paid call is accepted, but its reply never arrives (default: reset); once per prompt',
    apply: (effects, [how]) => {
      const lost = (how === undefined || how === '' ? 'reset' : how) as 'reset';
      effects.onSubmit.push({ type: 'lose_reply', accepted: true, how: lost });
    },
  },
  {
    pattern: /^http:(\d{3})(?::([^\]:]+))?$/,
    example: '[http:429:2], [http:502]',
    meaning:
      'the paid call gets this status, with this Retry-After, and nothing is accepted; once per prompt',
    apply: (effects, [status, retryAfter]) => {
      const headers: Record<string, string> = retryAfter ? { 'retry-after': retryAfter } : {};
      effects.onSubmit.push({ type: 'status', status: Number(status), headers });
    },
  },
  {
    pattern: /^poll:http:(\d{3})(?::(\d+))?$/,
    example: '[poll:http:503:3]',
    meaning: "the task's first polls (default 1) get this status",
    apply: (effects, [status, times]) => {
      const action: FaultAction = { type: 'status', status: Number(status) };
      effects.onPoll.push({ action, times: Number(times || 1) });
    },
  },
  {
    pattern: /^run:(\d+(?:\.\d+)?)s$/,
    example: '[run:30s]',
    meaning: 'time in progress (for an image: time until the reply)',
    apply: (effects, [text]) => {
      effects.runningMs = seconds(text);
    },
  },
  {
    pattern: /^queue:(\d+(?:\.\d+)?)s$/,
    example: '[queue:5s]',
    meaning: 'time in the queue',
    apply: (effects, [text]) => {
      effects.queuedMs = seconds(text);
    },
  },
  {
    pattern: /^content:(json|html)$/,
    example: '[content:json]',
    meaning: 'the content endpoint replies once with an error page, status 200 and video/mp4',
    apply: (effects, [kind]) => {
      effects.onContent.push({ action: { type: kind === 'json' ? 'json_page' : 'html_page' }, times: 1 });
    },
  },
  {
    pattern: /^content:not-ready(?::(\d+))?$/,
    example: '[content:not-ready:3]',
    meaning: 'the first content requests (default 1) get a "not ready" reply',
    apply: (effects, [times]) => {
      effects.onContent.push({ action: { type: 'not_ready' }, times: Number(times || 1) });
    },
  },
  {
    pattern: /^content:expired$/,
    example: '[content:expired]',
    meaning: 'the content is permanently gone, but the record still says completed',
    apply: (effects) => {
      effects.onContent.push({ action: { type: 'expired' }, times: 0 });
    },
  },
  {
    pattern: /^content:cut:(\d+)$/,
    example: '[content:cut:10000]',
    meaning: 'the first download is cut off after this many bytes',
    apply: (effects, [bytes]) => {
      const action: FaultAction = { type: 'cut_body', afterBytes: Number(bytes), how: 'reset' };
      effects.onContent.push({ action, times: 1 });
    },
  },
  {
    pattern: /^result:(b64|url)$/,
    example: '[result:b64]',
    meaning: 'images are returned in this form, whatever response_format says',
    apply: (effects, [form]) => {
      effects.resultForm = form === 'url' ? 'url' : 'b64_json';
    },
  },
  {
    pattern: /^results:(\d+)$/,
    example: '[results:1]',
    meaning: 'this many images are returned, whatever n says',
    apply: (effects, [count]) => {
      effects.resultCount = Number(count);
    },
  },
];

/**
 * Returns bracketed words that look like a directive but are not one, each with the most similar directive. If a fault
 * silently failed to happen, its test would prove nothing.
 */
export function mistypedDirectives(prompt: string): { readonly word: string; readonly near: string }[] {
  const found: { word: string; near: string }[] = [];
  for (const word of bracketed(prompt)) {
    if (!/^[a-z][a-z_-]*[:-]/.test(word) || promptDirectives.some(({ pattern }) => pattern.test(word)))
      continue;
    const [near] = nearNames(word, EXAMPLES);
    const example = near ?? EXAMPLES.find((one) => headOf(one) === headOf(word));
    if (example !== undefined) found.push({ word, near: example });
  }
  return found;
}

function bracketed(text: string): string[] {
  return [...text.matchAll(/\[([a-z][^\]]{1,60})\]/g)].map(([, word]) => word ?? '');
}

/** The documented examples, and every choice for the directives that have several. */
const EXAMPLES: readonly string[] = promptDirectives.flatMap(({ example, pattern }) => {
  const [, head = '', choices] = /^\^([a-z:-]+)\(([a-z_0-9|]+)\)\$$/.exec(pattern.source) ?? [];
  return choices === undefined ? bracketed(example) : choices.split('|').map((choice) => `${head}${choice}`);
});

const headOf = (word: string): string => word.split(':')[0] ?? '';

/** Reads a prompt's directives. Ignores other words in brackets. */
export function readDirectives(prompt: string): DirectiveEffects {
  const effects: DirectiveEffects = { onSubmit: [], onContent: [], onPoll: [] };
  for (const word of bracketed(prompt)) {
    for (const directive of promptDirectives) {
      const match = directive.pattern.exec(word);
      if (match !== null) directive.apply(effects, match.slice(1));
    }
  }
  return effects;
}
