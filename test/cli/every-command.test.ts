import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Command } from 'commander';
import { createProgram } from '../../packages/cli/src/program';
import { Report } from '../../packages/cli/src/shared/report';
import { renderImage } from '../../packages/sandbox/src/render-image';
import { CampaignRuns, film } from './support/campaign-runs';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliProcess, replyOf, runCli, runJson, startCli } from './support/run-cli';

/** Commands that stay up, take long or need a namespace of their own have a test of their own, in this file, that runs them with --json too. */
const ELSEWHERE: { readonly [command: string]: string } = {
  demo: 'demo-command.test.ts',
  dev: 'dev-command.test.ts',
  // It refuses a namespace in which others have encrypted workflows.
  'artifacts prune': 'artifacts-prune.test.ts',
  // It needs an account with a limit.
  'money allow': 'labels.test.ts',
  'money check': 'money-month.test.ts',
  // It needs an endpoint.
  'notices test': '../notices/command.test.ts',
};

const leaves = (command: Command, before = ''): string[] =>
  command.commands
    .filter((one) => one.name() !== 'help')
    .flatMap((one) => {
      const name = `${before}${one.name()}`;
      return one.commands.length > 0 ? leaves(one, `${name} `) : [name];
    });
const program = createProgram({ env: {}, report: new Report(), exitCode: 0 });

/** A video of unknown fate: the service accepted it, and its reply was lost. */
async function loseReply(bench: CliBench, id: string): Promise<void> {
  await bench.sandbox.admin.addFaults([
    { operation: 'create', promptIncludes: id, action: { type: 'lose_reply', accepted: true, how: 'reset' } },
  ]);
  const { code } = await runCli(
    ['video', '--model', 'sketch-lite', '--prompt', `a secret boat for ${id}`, '--id', id],
    bench.workerEnv,
  );
  expect(code).toBe(5);
}

describe('every command with -o json and -o jsonl', () => {
  let bench: CliBench;
  let id: string;
  let args: { readonly [command: string]: readonly string[] };
  /** Campaigns that run on. */
  let afterwards: readonly string[] = [];

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 500 } });
    await bench.startWorker();
    id = bench.server.uniqueId('every');
    const why = ['--reason', 'a test'];
    const [lost, adopted, declared, resubmitted] = ['lost', 'adopted', 'declared', 'resubmitted'].map(
      (name) => `${id}-${name}`,
    ) as [string, string, string, string];
    await Promise.all([lost, adopted, declared, resubmitted].map((one) => loseReply(bench, one)));
    const taskId =
      (await bench.sandbox.admin.tasks()).find(({ prompt }) => prompt.includes(adopted))?.id ?? '';
    const out = ['--out', path.join(bench.dir, 'out')];
    const runs = new CampaignRuns(bench);
    const films = await runs.manifest('films', [film('a', 'a secret boat')]);
    const unsettled = await runs.manifest('unsettled', [
      film('adopted', `a secret boat for ${id}-row [lost-reply]`),
      film('declared', 'a secret boat [lost-reply]'),
    ]);
    const long = await runs.manifest('long', [film('a', 'a secret boat [run:120s]')]);
    const [done, unknown, steady, ending, waiting] = ['done', 'unknown', 'steady', 'ending', 'waiting'].map(
      (name) => `${id}-${name}`,
    ) as [string, string, string, string, string];
    await Promise.all([
      runs.run('run', unsettled, '--id', unknown),
      ...[steady, ending].map((one) => runs.run('run', long, '--id', one, '--detach')),
    ]);
    afterwards = [steady, ending, waiting];
    const watched = [
      'video',
      '--model',
      'sketch-lite',
      '--prompt',
      'a secret boat [run:120s]',
      '--polling',
      'shared',
    ];
    await runCli([...watched, '--id', waiting, '--detach'], bench.workerEnv);
    const rowTask =
      (await bench.sandbox.admin.tasks()).find(({ prompt }) => prompt.includes(`${id}-row`))?.id ?? '';
    const cup = path.join(bench.dir, 'cup.png');
    const spec = { kind: 'image', model: 'm', prompt: 'cup', width: 64, height: 64, index: 0 } as const;
    writeFileSync(cup, renderImage({ ...spec, inputs: [] }));
    const image = ['--model', 'image-2', '--prompt', 'a secret map', '--size', '512x512', ...out];
    args = {
      video: ['--model', 'sketch-lite', '--prompt', 'a secret boat', '--id', id, ...out],
      image: [...image, '--id', `${id}-image`],
      edit: [...image, '--image', cup, '--id', `${id}-edit`],
      // Nothing is overwritten: every run writes a file of its own.
      'campaign init': [path.join(bench.dir, 'template-{format}.csv')],
      'campaign run': [films, '--id', done, '--out', path.join(bench.dir, 'report')],
      'campaign status': [done],
      'campaign watch': [done],
      'campaign report': [done, '--out', path.join(bench.dir, 'report')],
      'campaign list': [],
      'campaign pause': [steady],
      'campaign cancel': [ending],
      'campaign set': [steady, '--concurrency', '3'],
      'campaign resume': [done],
      'campaign retry': [done],
      'campaign adopt': [unknown, 'adopted', rowTask, ...why],
      'campaign declare-lost': [unknown, 'declared', ...why],
      status: [id],
      watch: [id],
      resume: [id, ...out],
      nudge: [waiting],
      'unconfirmed list': [],
      'unconfirmed show': [lost],
      'unconfirmed adopt': [adopted, taskId, ...why],
      'unconfirmed declare-lost': [declared, ...why],
      'unconfirmed resubmit': [resubmitted, ...why, '--yes'],
      orphans: [],
      replay: [id],
      'history export': [id, path.join(bench.dir, 'history.json')],
      'history record': [id, '--to', path.join(bench.dir, 'golden')],
      'journal prune': ['--older-than', '3650d'],
      // Runs on a real database in test/store-servers/postgres-migrate.test.ts.
      'journal migrate': ['--dry-run'],
      'money review': [],
      'money settle': [lost, '--amount', '0.35USD', '--reference', 'invoice 2026-11', ...why],
      'money report': ['--by', 'day,model'],
      'money limits': [],
      'models ls': [],
      'models show': ['cine-1'],
      'config show': [],
      schema: ['video-outcome'],
      completion: ['bash'],
      doctor: [],
      setup: ['--dry-run'],
      worker: [],
      sandbox: [],
    };
  });
  afterAll(async () => {
    const { workflow } = bench.server.client;
    // One that was cancelled may have ended by now.
    await Promise.allSettled(afterwards.map((one) => workflow.getHandle(one).terminate('the test is over')));
    await bench.close();
  });

  test('none is left out', () => {
    expect([...Object.keys(args), ...Object.keys(ELSEWHERE)].sort()).toEqual(leaves(program).sort());
    for (const [command, file] of Object.entries(ELSEWHERE)) {
      const text = readFileSync(path.join(__dirname, file), 'utf8');
      const words = command.replaceAll(' ', "', '");
      expect(text).toMatch(new RegExp(`'${words}'[^;]*'--json'|runJson\\(\\[\\s*'${words}'`));
    }
  });

  const once = leaves(program).filter(
    (name) => !(name in ELSEWHERE) && !['worker', 'sandbox'].includes(name),
  );
  // In this order: what follows a video needs it.
  const ordered = ['video', ...once.filter((name) => name !== 'video')];
  test.each(ordered)('%s: stdout is one object; with jsonl events and one envelope', async (name) => {
    const line = (format: string) => [
      ...name.split(' '),
      ...(args[name] ?? []).map((word) => word.replace('{format}', format)),
    ];
    const { code, reply, stdout } = await runJson(line('json'), bench.workerEnv);
    expect([code, reply.ok]).toEqual([0, true]);
    expect(reply.data).toBeInstanceOf(Object);
    const lines = await runCli([...line('jsonl'), '-o', 'jsonl'], bench.workerEnv);
    const objects = lines.stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as { v: number; type: string; ok?: boolean });
    expect(objects.every(({ v, type }) => v === 1 && type !== '')).toBe(true);
    expect(objects.filter(({ type }) => type === 'result')).toEqual([objects.at(-1)]);
    expect([lines.code, objects.at(-1)?.ok]).toEqual([0, true]);
    for (const text of [stdout, lines.stdout]) expect(text).not.toMatch(/secret (map|boat)|sandbox-key/);
  });

  test.each(['worker', 'sandbox'])(
    '%s: one object when it is ready, and nothing when it ends',
    async (name) => {
      const running: CliProcess = startCli([name, '--json'], {
        ...bench.workerEnv,
        MEDIA_TASK_QUEUE: bench.server.uniqueId('own'),
      });
      await running.untilLine('stdout', /"ok":true/);
      running.child.kill('SIGTERM');
      const ended = await running.ended;
      expect(ended.code).toBe(0);
      expect(replyOf(ended)).toMatchObject({ ok: true });
    },
  );
});
