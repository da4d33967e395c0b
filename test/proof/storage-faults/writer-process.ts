import { spawn } from 'node:child_process';
import { join } from 'node:path';

const SCRIPT = join(__dirname, 'writer.js');

export interface WriterProcess {
  /** The next line that it says. */
  line(): Promise<string>;
  go(): void;
  /** SIGKILL, and the end of it. */
  kill(): Promise<void>;
  /** What came of its work. */
  answer(): Promise<unknown>;
}

/** @param blocks largest file that it may write, in blocks of the shell's `ulimit -f`; undefined for no limit */
export function startWriter(root: string, what: string, point?: string, blocks?: number): WriterProcess {
  const args = [SCRIPT, root, what, ...(point === undefined ? [] : [point])];
  const child =
    blocks === undefined
      ? spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
      : spawn('sh', ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', process.execPath, ...args], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (text + chunk.toString()).split('\n');
    text = parts.pop()!;
    for (const line of parts) (waiting.shift() ?? ((one) => lines.push(one)))(line);
  });
  const line = () =>
    Promise.race([
      new Promise<string>((resolve) => {
        const ready = lines.shift();
        if (ready === undefined) waiting.push(resolve);
        else resolve(ready);
      }),
      gone.then(() => Promise.reject(new Error(`The writer ended before it said more: ${text}`))),
    ]);
  return {
    line,
    go: () => void child.stdin.write('go\n'),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    answer: async () => {
      const { answer } = JSON.parse(await line()) as { answer: unknown };
      await gone;
      return answer;
    },
  };
}
