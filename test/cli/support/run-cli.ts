import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { PAYLOADS_ENV } from '../../support/stored-payloads';
import { COMMAND_HOST } from '../../support/test-hosts';

const MAIN = path.resolve(__dirname, '..', '..', '..', 'packages', 'cli', 'lib', 'main.js');

/** What one run of the real binary left behind. */
export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliReply {
  readonly ok: boolean;
  readonly data?: Record<string, unknown> & { readonly files?: readonly string[] };
  readonly error?: { readonly type: string; readonly message: string; readonly hint: string };
}

export interface CliProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<CliRun>;
  /** Resolves when a line of this stream matches; rejects when the process ends before. */
  untilLine(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string>;
}

/** The environment of this run without anything that would lead a command to another server or service. */
export function cleanEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => name === 'TEMPORAL_CLI_PATH' || !/^(TEMPORAL|MEDIA)_/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    ...PAYLOADS_ENV,
    TEMPORAL_CONFIG_FILE: path.join(__dirname, 'no-profiles.toml'),
    ...own,
  };
}

/**
 * Starts the compiled command line as a user does, in a process of its own.
 * @param input what stands on its standard input
 */
export function startCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
  input?: string,
): CliProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: cleanEnvironment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  child.stdin.on('error', () => undefined).end(input);
  const text = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk;
      for (const watcher of watchers) watcher();
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...text }));
  return {
    child,
    ended,
    untilLine: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const line = text[stream].split('\n').find((one) => pattern.test(one));
          if (line === undefined) return;
          watchers.delete(look);
          resolve(line);
        };
        watchers.add(look);
        look();
        void ended.then(({ code }) => {
          look();
          reject(new Error(`ended with ${code} before ${pattern}:\n${text.stdout}${text.stderr}`));
        });
      }),
  };
}

/** Runs one command to its end, in a process that may have run others before. */
export async function runCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
): Promise<CliRun> {
  // Node reads these only when it starts, and these commands change their process for good.
  const needsOwn = Object.keys(env).some((name) => name.startsWith('NODE_') || /proxy$/i.test(name));
  if (needsOwn || ['worker', 'dev', 'sandbox', 'demo', 'replay', 'history'].includes(args[0] ?? ''))
    return startCli(args, env, cwd).ended;
  const host = process.env[COMMAND_HOST];
  if (host === undefined) throw new Error('No process for commands: test/support/needs.js says "nothing".');
  const reply = await fetch(host, {
    method: 'POST',
    body: JSON.stringify({ args, env: cleanEnvironment(env), cwd }),
  });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as CliRun;
}

/** Runs with `--json` and fails unless stdout is exactly one JSON object on one line. */
export async function runJson(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<CliRun & { readonly reply: CliReply }> {
  const run = await runCli([...args, '--json'], env);
  return { ...run, reply: replyOf(run) };
}

export function replyOf({ stdout, stderr }: CliRun): CliReply {
  const lines = stdout.split('\n');
  if (lines.length !== 2 || lines[1] !== '') throw new Error(`stdout is not one line:\n${stdout}\n${stderr}`);
  const reply = JSON.parse(lines[0] ?? '') as CliReply;
  const known = ['ok', 'data', 'error'];
  const others = Object.keys(reply).filter((key) => !known.includes(key));
  if (typeof reply.ok !== 'boolean' || others.length > 0) throw new Error(`odd reply: ${lines[0]}`);
  return reply;
}
