import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type WorkflowExecutionInfo } from '@temporalio/client';
import { type CliProcess, type CliRun, runCli, startCli } from '../cli/support/run-cli';
import { withoutUrl } from '../contract/without-url';
import { CanarySearch, ENCODINGS, type Hit, type Searched, searched } from '../support/canary';
import { eventually } from '../support/eventually';
import { proved } from '../support/proof';
import { PROMPT, promptOf, SECRETS } from './secrecy/canaries';
import { idOfCase, runCase, secretCases } from './secrecy/cases';
import { filesOf } from './secrecy/files-of';
import { descriptions } from './secrecy/histories';
import { Hostile, on } from './secrecy/hostile';
import { commandLine, type SecretStack, startSecretStack } from './secrecy/secret-stack';
import { collectSinks, type Sinks } from './secrecy/sinks';

/** For what happens within seconds on a machine that has nothing else to do. */
const MAX_WAIT_MS = 90_000;

/**
 * Marked secrets through a real worker process at its most talkative, a proxy, a service and a media host that repeat all
 * that they know; every kind of outcome; then everything that is written down anywhere is searched (C5.4a to C5.4c).
 */
describe('secrecy', () => {
  let stack: SecretStack;
  let sinks: Sinks['sinks'] = new Map();
  let listed: Sinks['listed'] = new Map();
  const outcomes = new Map<string, string>();
  const expected = new Map<string, string>();
  const counts = { events: 0, bytes: 0, hits: 0, controls: 0, listed: 0 };

  beforeAll(async () => {
    stack = await startSecretStack();
    const first = await stack.startWorker();
    const hostile = new Hostile(stack.foreign.signedUrl('video/b.mp4'));
    const cases = secretCases(stack, hostile);
    await stack.sandbox.admin.addFaults([
      ...cases.flatMap((one) => one.faults),
      on('poll', 'cancelled', { type: 'record', patch: { status: 'running' } }, { times: 0 }),
      on('poll', 'cli failed', { type: 'task_fails', error: hostile.error().error }),
      on('create', 'key refused', hostile.keyRefused),
      on('generate', 'cli image', hostile.status(400)),
      on('edit', 'cli edit', hostile.status(400)),
      // A download that is under way for as long as it takes to kill the worker.
      on('media', 'killed', { type: 'slow_body', bytesPerSecond: 100 }),
      on('poll', 'busy', { type: 'record', patch: withoutUrl }, { times: 0 }),
      on('content', 'busy', hostile.status(503, 'busy'), { times: 0 }),
    ]);
    const dev = devRun();
    const calls = cases.map(async (one) => {
      expected.set(one.name, one.outcome);
      const outcome = await runCase(stack, one);
      outcomes.set(one.name, outcome.outcome);
      return JSON.stringify(outcome);
    });
    const results = Promise.all([...calls, cancelledRun()]);
    const commands = paidCommands();
    const busy = runVideo('busy');
    const returned = await results;
    const shown = await commands;
    // Last, because a worker that dies takes every create along that is under way.
    const killed = runVideo('killed');
    const handles = [busy.id, killed.id].map((id) => stack.server.client.workflow.getHandle(id));
    await eventually(
      'a download that is tried again',
      async () => {
        const { raw } = await handles[0]!.describe();
        return raw.pendingActivities?.some((one) => one.lastFailure != null);
      },
      MAX_WAIT_MS,
    );
    await eventually(
      'a part of a download',
      async () =>
        (await filesOf(join(stack.dataDir, 'artifacts'))).some(({ where }) => where.endsWith('.part')),
      MAX_WAIT_MS,
    );
    // Alone and when no create is left: a call that waited for such a refusal of another one is sent again after its own.
    const refused = await runVideo('key refused').result;
    outcomes.set(refused.id, refused.outcome);
    expected.set(refused.id, 'rejected');
    const during = [
      ...(await descriptions(stack.server.client, await workflows())),
      ...(await filesOf(stack.dataDir)).filter(({ where }) => !where.includes('rejected/')),
    ];
    const commandLines = [searched('worker', await commandLine(first.child.pid))];
    first.child.kill('SIGKILL');
    const killedRun = await first.ended;
    const second = await stack.startWorker();
    await Promise.all(handles.map((handle) => handle.cancel()));
    await Promise.all(
      [busy.result, killed.result].map((result) => result.then((one) => outcomes.set(one.id, one.outcome))),
    );
    // Not before: what can be downloaded again may be there before it is cancelled.
    await stack.sandbox.admin.clearFaults();
    expected.set(busy.id, 'cancelled');
    expected.set(killed.id, 'cancelled');
    const [diagnosed, devRan] = await Promise.all([diagnosticCommands(), dev]);
    const all = await workflows();
    const answers = await queryAnswers(all);
    second.child.kill('SIGTERM');
    const collected = await collectSinks(stack, {
      all,
      returned,
      shown,
      during,
      commandLines,
      workers: [killedRun, await second.ended],
      diagnosed,
      answers,
      devRan,
    });
    ({ sinks, listed } = collected);
    counts.events = collected.events;
  }, 600_000);

  afterAll(async () => {
    await stack.close();
    proved('secrecy', {
      sinks: sinks.size,
      encodings: ENCODINGS.length,
      canaries: SECRETS.length + 1,
      'kinds of outcome': new Set(expected.values()).size,
      'calls with a hostile service': expected.size,
      'history events': counts.events,
      'bytes searched': counts.bytes,
      'planted canaries found': counts.controls,
      'prompts found in listed places': counts.listed,
      'hits outside': counts.hits,
    });
  });

  function runVideo(name: string) {
    const id = idOfCase(stack, name);
    const started = stack.media.startVideo(
      { request: { model: 'sketch-lite', prompt: promptOf(name), durationSeconds: 2 } },
      { id },
    );
    const result = started.then((one) => one.result()).then((outcome) => ({ id, outcome: outcome.outcome }));
    result.catch(() => undefined);
    return { id, started, result };
  }

  async function cancelledRun(): Promise<string> {
    const { id, started, result } = runVideo('cancelled');
    await started;
    await eventually(
      'a task that is watched',
      async () => {
        const state = await stack.media.videoState(id).catch(() => undefined);
        return state?.phase === 'watching';
      },
      MAX_WAIT_MS,
    );
    await stack.server.client.workflow.getHandle(id).cancel();
    const { outcome } = await result;
    expected.set('cancelled', 'cancelled');
    outcomes.set('cancelled', outcome);
    return outcome;
  }

  const workflows = async (): Promise<WorkflowExecutionInfo[]> => {
    const { client } = stack.server;
    const wanted = `TaskQueue STARTS_WITH "${stack.taskQueue}"`;
    return eventually('all workflows in visibility', async () => {
      const found: WorkflowExecutionInfo[] = [];
      for await (const one of client.workflow.list({ query: wanted })) found.push(one);
      return found.length > expected.size ? found : undefined;
    });
  };

  /** What a user's shell shows, in every format. */
  async function paidCommands(): Promise<CliRun[]> {
    const id = (name: string) => ['--id', idOfCase(stack, name), '--out', join(stack.dir, 'out'), '--yes'];
    const video = ['video', '--model', 'sketch-lite', '--duration', '2', '--prompt'];
    const image = ['image', '--model', 'image-2', '--prompt'];
    const edit = ['edit', '--model', 'image-2', '--image', stack.userFile, '--prompt'];
    return Promise.all([
      stack.cli(...video, promptOf('cli failed'), ...id('cli failed')),
      stack.cli(...image, promptOf('cli image'), ...id('cli image'), '-o', 'jsonl'),
      stack.cli(...edit, promptOf('cli edit'), ...id('cli edit'), '-o', 'json'),
    ]);
  }

  /** What somebody would paste into a ticket. */
  async function diagnosticCommands(): Promise<CliRun[]> {
    const failed = idOfCase(stack, 'unknown failure');
    return Promise.all([
      runCli(['doctor', '-o', 'json'], stack.workerEnv),
      runCli(['config', '-o', 'json'], stack.workerEnv),
      stack.cli('status', failed, '-o', 'json'),
      stack.cli('status', idOfCase(stack, 'still running')),
      stack.cli('status', idOfCase(stack, 'server error'), '-o', 'json'),
    ]);
  }

  /** `dev` with a sandbox of its own and a key that is not for it: one refused call, then its logs and its children. */
  async function devRun(): Promise<{ run: CliRun; files: Searched[]; children: Searched[] }> {
    const dataDir = join(stack.dir, 'dev');
    await mkdir(dataDir);
    const env: NodeJS.ProcessEnv = {
      ...stack.workerEnv,
      MEDIA_DATA_DIR: dataDir,
      MEDIA_TASK_QUEUE: `${stack.taskQueue}-dev`,
    };
    delete env['MEDIA_BASE_URL'];
    const dev: CliProcess = startCli(['dev', '--json'], env);
    const ready = JSON.parse(await dev.untilLine('stdout', /^\{/)) as {
      data: { pids: Record<string, number> };
    };
    const run = await runCli(
      [
        'video',
        '--model',
        'sketch-lite',
        '--prompt',
        promptOf('dev'),
        '--id',
        `${stack.taskQueue}-dev-1`,
        '--json',
      ],
      { ...stack.clientEnv, MEDIA_DATA_DIR: dataDir, MEDIA_TASK_QUEUE: `${stack.taskQueue}-dev` },
    );
    const { worker, sandbox } = ready.data.pids;
    const children = [
      searched('dev', await commandLine(dev.child.pid)),
      searched('worker', await commandLine(worker)),
      searched('sandbox', await commandLine(sandbox)),
      searched('environment of the sandbox', await environmentOf(sandbox)),
    ];
    dev.child.kill('SIGINT');
    const ended = await dev.ended;
    const files = (await filesOf(dataDir)).filter(({ where }) => !where.startsWith('sandbox'));
    return {
      run: { ...ended, stdout: ended.stdout + run.stdout, stderr: ended.stderr + run.stderr },
      files,
      children,
    };
  }

  async function queryAnswers(all: readonly WorkflowExecutionInfo[]): Promise<Searched[]> {
    // Each answer of a closed workflow costs a replay, and those of one kind are alike.
    const told = all.filter(({ workflowId }) => !/rejected-(?!0$)/.test(workflowId));
    const asked = told.flatMap(({ workflowId, runId, type }) => {
      const handle = stack.server.client.workflow.getHandle(workflowId, runId);
      const names = ['__temporal_workflow_metadata'];
      if (/Video$/.test(type)) names.push('video_state');
      return names.map(async (name) => {
        const answer = await handle.query<unknown>(name).catch((error: unknown) => String(error));
        return searched(`${workflowId} ${name}`, JSON.stringify(answer));
      });
    });
    return Promise.all(asked);
  }

  test('every case went its way', () => {
    expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(expected));
    const kinds = [
      'completed',
      'failed',
      'unconfirmed',
      'rejected',
      'still_running',
      'content_unavailable',
      'results_lost',
      'cancelled',
    ];
    expect([...new Set(outcomes.values())].sort()).toEqual(kinds.sort());
    for (const [name, { texts, marker }] of sinks) {
      const whole = texts.map(({ where, bytes }) => `${where}\n${bytes.toString('latin1')}`).join('\n');
      expect({
        name,
        holds: typeof marker === 'string' ? whole.includes(marker) : marker.test(whole),
      }).toEqual({ name, holds: true });
    }
    expect(sinks.size).toBeGreaterThanOrEqual(12);
  });

  test('[C5.4a] [C5.4b] [C5.4c] no key, cookie, signature, password, file name or prompt is in any sink, in any encoding', () => {
    const found: (Hit & { readonly sink: string; readonly where: string })[] = [];
    for (const [sink, { texts, own = [] }] of sinks) {
      const search = new CanarySearch([...SECRETS, PROMPT].filter((one) => !own.includes(one)));
      for (const { where, bytes } of texts) {
        counts.bytes += bytes.length;
        for (const hit of [...search.hits(bytes), ...search.hits(Buffer.from(where))])
          found.push({ sink, where, ...hit });
      }
    }
    counts.hits = found.length;
    expect(found).toEqual([]);
  });

  test('the search finds each canary in each encoding in each sink', () => {
    const missed: string[] = [];
    for (const [sink, { texts }] of sinks) {
      const host = texts
        .reduce((a, b) => (b.bytes.length > a.bytes.length ? b : a))
        .bytes.subarray(0, 65_536);
      const middle = host.length >> 1;
      for (const one of [...SECRETS, PROMPT]) {
        const search = new CanarySearch([one]);
        for (const encoding of ENCODINGS) {
          const planted = Buffer.concat([
            host.subarray(0, middle),
            encoding.write(one.core),
            host.subarray(middle),
          ]);
          if (search.hits(planted).some((hit) => hit.encoding === encoding.name)) counts.controls += 1;
          else missed.push(`${one.name} as ${encoding.name} in ${sink}`);
        }
      }
    }
    expect(missed).toEqual([]);
  });

  test('the prompt is where it must be', () => {
    const search = new CanarySearch([PROMPT]);
    for (const [place, texts] of listed) {
      const found = texts.filter(({ bytes }) => search.hits(bytes).length > 0).length;
      counts.listed += found;
      expect({ place, found: found > 0 }).toEqual({ place, found: true });
    }
  });
});

async function environmentOf(pid: number | undefined): Promise<string> {
  return readFile(`/proc/${pid ?? 'self'}/environ`, 'utf8');
}
