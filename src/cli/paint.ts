import { styleText } from 'node:util';

export type Tone = 'good' | 'bad' | 'warn' | 'note';

const STYLES = { good: 'green', bad: 'red', warn: 'yellow', note: 'cyan' } as const;

/** Colours a word for people, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

/** `--color` wins over NO_COLOR (any text but the empty one), that over what the stream is. */
export function painter(
  when: 'auto' | 'always' | 'never',
  env: NodeJS.ProcessEnv,
  stream: { readonly isTTY?: boolean },
): Paint {
  const wanted = when === 'always' || (when === 'auto' && !env['NO_COLOR'] && stream.isTTY === true);
  return wanted && env['TERM'] !== 'dumb'
    ? (tone, text) => styleText(STYLES[tone], text, { validateStream: false })
    : (_tone, text) => text;
}
