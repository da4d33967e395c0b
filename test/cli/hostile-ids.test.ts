import { execFileSync } from 'node:child_process';
import { type Command } from 'commander';
import { createProgram } from '../../packages/cli/src/program';
import { Report } from '../../packages/cli/src/shared/report';
import { shellWord } from '../../packages/cli/src/shared/text';
import { eventually } from '../support/eventually';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliRun, type CliProcess, runCli } from './support/run-cli';

/** Clears the screen, turns the line around, forges lines of ours, and ends a word of a shell in every way. */
const HOSTILE =
  'film \u001b[2J\u009b1m\u202e\u2028\'"; touch /tmp/forged $(id) `id`\nerror: forged\r\nhint: rm -rf ~\n';

const leaves = (command: Command, before = ''): string[] =>
  command.commands.flatMap((one) => {
    const name = `${before}${one.name()}`;
    return one.commands.length > 0 ? leaves(one, `${name} `) : [name];
  });
const COMMANDS = leaves(createProgram({ env: {}, report: new Report(), exitCode: 0 }));

/** Nothing for a terminal to obey but the ends of our own lines, and none of them was made by the id. */
function expectClean(text: string): void {
  // oxlint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
  expect(text).not.toMatch(/^ *(error: forged|hint: rm)/m);
}

/** The words of a pasted command, as a shell reads them. */
function wordsOf(command: string): string[] {
  const out = execFileSync('bash', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  return out.split('\0').slice(0, -1);
}

describe('ids, prompts and texts that others choose', () => {
  let bench: CliBench;
  let worker: CliProcess;
  let workflowId: string;
  let creationKey: string;
  const run = (...args: string[]): Promise<CliRun> => runCli(args, bench.workerEnv);

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 100 } });
    worker = await bench.startWorker();
    workflowId = `${bench.server.uniqueId('hostile')} ${HOSTILE}`;
    await bench.sandbox.admin.addFaults([
      { operation: 'create', action: { type: 'lose_reply', accepted: true, how: 'reset' } },
    ]);
    const handle = await bench.server.client.workflow.start('generateVideo', {
      taskQueue: bench.clientEnv['MEDIA_TASK_QUEUE'] ?? '',
      workflowId,
      args: [{ request: { model: 'cine-1', prompt: HOSTILE, durationSeconds: 2 }, onUnconfirmed: 'wait' }],
    });
    creationKey = await eventually(
      'the call of unknown fate',
      async () =>
        (await handle.query<{ evidence?: object; creationKey?: string }>('video_state')).evidence &&
        (await handle.query<{ creationKey: string }>('video_state')).creationKey,
    );
  });
  afterAll(() => bench.close());

  test('the key of the call holds the id', () => {
    expect(creationKey).toContain(HOSTILE.trimEnd().slice(0, 20));
  });

  test.each(COMMANDS)('%s: with such an id, in text and in JSON', async (command) => {
    const waits = ['watch', 'resume'].includes(command) ? ['--wait-for', '1s'] : [];
    const given = [...command.split(' '), workflowId, ...waits];
    for (const output of ['text', 'json']) {
      const { stdout, stderr } = await run(...given, '-o', output);
      expectClean(stdout);
      expectClean(stderr);
    }
  });

  test.each([
    ['status', () => ['status', workflowId]],
    ['unconfirmed', () => ['unconfirmed']],
    ['unconfirmed show', () => ['unconfirmed', 'show', creationKey]],
    ['replay', () => ['replay', workflowId, '--color', 'always']],
    ['doctor', () => ['doctor']],
    ['orphans', () => ['orphans']],
  ])('%s finds it, and shows it', async (command, args) => {
    const { stdout, stderr } = await run(...args());
    const text = `${stdout}${stderr}`;
    // Colours are our own.
    // oxlint-disable-next-line no-control-regex
    expectClean(text.replaceAll(/\x1b\[\d\dm/g, ''));
    if (!['doctor', 'orphans'].includes(command)) expect(text).toContain('\\x1b[2J');
  });

  test('[C4.4c] the commands to paste hold it as one word', async () => {
    const { stdout, stderr } = await run('unconfirmed', 'show', creationKey);
    const lines = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => /^ +temporal-media unconfirmed /.test(line));
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(wordsOf(line)).toContain(creationKey);
  });

  test.each(['-x', "it's", 'a$b', HOSTILE, '\u001b1a', 'grün \u202e', ''])(
    '%j comes back from a shell',
    (word) => {
      expect(wordsOf(shellWord(word))).toEqual([word]);
    },
  );

  test('[C4.4c] decided from a pasted line, the call ends; the log of the worker is clean too', async () => {
    const { stdout, stderr } = await run('unconfirmed', 'show', creationKey);
    const line = `${stdout}${stderr}`.split('\n').find((one) => one.includes('declare-lost')) ?? '';
    const { code } = await run(...wordsOf(line).slice(1), '--by', HOSTILE);
    expect(code).toBe(0);
    worker.child.kill('SIGTERM');
    const ended = await worker.ended;
    expectClean(`${ended.stdout}${ended.stderr}`);
  });
});
