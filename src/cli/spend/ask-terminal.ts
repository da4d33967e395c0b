import { createInterface } from 'node:readline/promises';

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Stdin and stderr: stdout belongs to results. */
export const TERMINAL: Terminal = { input: process.stdin, output: process.stderr };

export function isTerminal({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/** Asks a person; only `y` and `yes` agree. Ctrl-C, Ctrl-D and an empty line do not. */
export async function askTerminal(question: string, { input, output }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output, terminal: true });
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  // Without a listener Ctrl-C would only pause the input, and the command would hang.
  lines.once('SIGINT', () => lines.close());
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
    if (answer === undefined) output.write('\n');
    return /^y(es)?$/i.test((answer ?? '').trim());
  } finally {
    lines.close();
  }
}
