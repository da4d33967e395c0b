import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import '../support/quiet-temporal';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { WebSocket } from 'undici';
import { ALL_OPEN } from '../../packages/replay/src/fetch-histories';
import { mediaJournalScheduleId } from '../../src/domain/names';
import { runCli, runJson, startCli } from '../cli/support/run-cli';
import { type MediaStack, startMediaStack } from '../support/media-stack';

const USERS = path.join(__dirname, 'users');
const CANARY = 'a paper boat named canary-41';

interface Data {
  readonly targets: readonly {
    readonly target: string;
    readonly error?: { readonly type: string };
    readonly runs?: readonly { readonly workflowId: string; readonly verdict: Record<string, unknown> }[];
  }[];
  readonly summary: Record<string, number>;
}

describe('replay', () => {
  let stack: MediaStack;
  let env: NodeJS.ProcessEnv;
  let film: string;
  let posters: string;
  const file = (name: string): string => path.join(stack.dataDir, name);
  const replay = async (...args: string[]) => {
    const { code, reply } = await runJson(['replay', ...args], env);
    const data = reply.data as unknown as Data | undefined;
    return { code, type: reply.error?.type, data, verdict: data?.targets[0]?.runs?.[0]?.verdict };
  };

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } });
    env = stack.env;
    const { server } = stack;
    await stack.startWorker();
    film = server.uniqueId('film');
    posters = server.uniqueId('posters');
    const taskQueue = server.uniqueId('posters');
    const worker = await Worker.create({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue,
      workflowBundle: await bundleWorkflowCode({
        workflowsPath: path.join(USERS, 'before.ts'),
        logger: new DefaultLogger('ERROR'),
      }),
    });
    const { workflow } = server.client;
    const request = { model: 'sketch-lite', prompt: CANARY };
    await Promise.all([
      worker.runUntil(workflow.execute('twoPosters', { taskQueue, workflowId: posters })),
      workflow.execute('generateVideo', {
        taskQueue: stack.taskQueue,
        workflowId: film,
        args: [{ request }],
        memo: { customer: CANARY },
      }),
    ]);
  });
  afterAll(() => stack.stop());

  it('of a workflow on the server: identical, with who wrote it', async () => {
    const { code, verdict, data } = await replay(film);
    expect([code, data?.summary]).toMatchObject([0, { identical: 1, runs: 1, diverges: 0 }]);
    expect(verdict).toMatchObject({ verdict: 'identical', writtenBy: { sdk: 'temporal-typescript 1.24.0' } });
    const { stdout, stderr } = await runCli(['replay', film, '--no-timeline'], env);
    expect(stdout).toBe(`identical  generateVideo ${film}: the current code issues the same commands.\n`);
    // Each note is printed where it applies, or on request.
    expect(stderr).not.toMatch(/compares commands|creation_key_conflict|Options:/);
    const verbose = await runCli(['replay', film, '--no-timeline', '--verbose'], env);
    for (const note of [/compares commands/g, /creation_key_conflict/g, /Options: revert/g])
      expect(verbose.stderr.match(note)).toHaveLength(1);
  });

  it('a pipe gets each entry on one line, with its time of day; no id is cut', async () => {
    const { stdout } = await runCli(['replay', film, '--utc'], { ...env, TZ: 'Asia/Kathmandu' });
    const here = await runCli(['replay', film], { ...env, TZ: 'Asia/Kathmandu' });
    const created = / {2}(\d\d):\d\d:\d\d {2}\S+ +\+ Create: sent, accepted as task \S+, .*m?s$/m;
    const utc = created.exec(stdout)?.[1];
    expect(created.exec(here.stdout)?.[1]).not.toBe(utc);
    expect([stdout, here.stdout].map((text) => / UTC\S* \(/.exec(text)?.[0])).toEqual([
      ' UTC (',
      ' UTC+05:45 (',
    ]);
  });

  it('--all-open has no queue binding: that is a schedule', async () => {
    const { client, taskQueue } = { client: stack.server.client, taskQueue: stack.taskQueue };
    await client.schedule.getHandle(mediaJournalScheduleId(taskQueue)).describe();
    const open: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query: ALL_OPEN })) open.push(workflowId);
    expect(open.filter((id) => /media-journal|scheduler/.test(id))).toEqual([]);
  });

  it('of what history export writes, in both forms; redacted, nothing of the prompt and the memo is in it', async () => {
    const written = [file('film.json'), file('film.bin'), file('redacted.json')] as const;
    for (const to of written) {
      const redact = to.includes('redacted') ? ['--redact'] : [];
      expect(await runJson(['history', 'export', film, to, ...redact], env)).toMatchObject({ code: 0 });
    }
    expect((await replay(...written)).data?.summary).toMatchObject({ identical: 3, runs: 3 });
    const readable = (name: string): string =>
      readFileSync(name, 'utf8').replace(/"data": ?"([^"]*)"/g, (_all, data: string) =>
        Buffer.from(data, 'base64').toString(),
      );
    expect(readable(written[0])).toContain(CANARY);
    for (const text of [CANARY, film, 'canary', stack.taskQueue])
      expect(readable(written[2])).not.toContain(text);
  });

  it('by a query, of chosen workflows beside those of this package', async () => {
    const query = `WorkflowId IN ('${film}', '${posters}')`;
    const listed = await stack.server.client.workflow.count(query);
    expect(listed.count).toBe(2);
    const own = await replay('--query', query, '--workflows-path', path.join(USERS, 'before.ts'));
    expect([own.code, own.data?.summary]).toMatchObject([0, { identical: 2 }]);
    // The other thread has a connection of its own.
    const code = ['--workflows-path', path.join(USERS, 'before.ts')];
    const both = await replay('--query', query, ...code, '--concurrency', '2');
    expect([both.code, both.data?.targets]).toEqual([0, own.data?.targets]);
    // Workflows of others are no failure of a query, and one of somebody who names them.
    const ours = await replay('--query', query);
    expect([ours.code, ours.data?.summary]).toMatchObject([0, { identical: 1, not_replayed: 1 }]);
    expect(await replay(posters)).toMatchObject({ code: 5, type: 'replay_differs' });
  });

  it('after a patch was removed: its event, and the command and line of the code', async () => {
    const { code, type, verdict } = await replay(
      posters,
      '--workflows-path',
      path.join(USERS, 'patch-removed.ts'),
    );
    expect([code, type]).toEqual([5, 'replay_differs']);
    expect(verdict).toMatchObject({
      verdict: 'diverges',
      divergence: {
        event: { eventType: 'MarkerRecorded', kind: 'patch', name: 'a-pause-between' },
        produced: { kind: 'timer', summary: 'poster 2 of 2' },
        at: [{ file: path.join(USERS, 'patch-removed.ts'), line: 5 }],
        atProduced: true,
      },
    });
  });

  it('of code that throws: the error and its line; of a bundle that was made before', async () => {
    const bundle = file('throws.js');
    const { code } = await bundleWorkflowCode({
      workflowsPath: path.join(USERS, 'throws.ts'),
      logger: new DefaultLogger('ERROR'),
    });
    writeFileSync(bundle, code);
    const ended = await runCli(['replay', posters, '--bundle', bundle, '--color', 'never'], env);
    expect(ended.code).toBe(5);
    expect(ended.stdout).toMatch(
      /^fails {2}twoPosters .*: the current code throws where the workflow continued\.$/m,
    );
    expect(ended.stdout).toMatch(/Cannot read properties of undefined/);
    expect(ended.stdout).toMatch(/at test\/replays\/users\/throws\.ts:3:/);
    expect(ended.stderr).toMatch(/patched\("ID"\)/);
  });

  it('of golden histories: as recorded; changed, missing and new ones are told', async () => {
    const golden = file('golden');
    const own = ['--workflows-path', path.join(USERS, 'before.ts')];
    const recorded = await runJson(['history', 'record', film, posters, '--to', golden], env);
    const { files = [] } = recorded.reply.data ?? {};
    expect(files).toEqual([`generateVideo.${film}.json`, `twoPosters.${posters}.json`]);
    expect(await replay('--golden', golden, ...own)).toMatchObject({
      code: 0,
      data: { summary: { identical: 2 } },
    });
    // Once more adds beside them.
    await runJson(['history', 'record', film, '--to', golden], env);
    const [first = '', second = ''] = files.map((name) => path.join(golden, name));
    writeFileSync(second, `${readFileSync(second, 'utf8')}\n`);
    writeFileSync(path.join(golden, 'new.json'), readFileSync(first));
    const ended = await runCli(['replay', '--golden', golden, ...own], env);
    expect(ended.code).toBe(5);
    expect(ended.stdout).toContain(`twoPosters.${posters}.json has changed since it was recorded.`);
    expect(ended.stdout).toContain('new.json is in the folder but not in the manifest.');
    expect(ended.stderr).toContain('error: Golden histories');
  });

  it('of golden histories that are redacted: names that a person recognises', async () => {
    const golden = file('golden-redacted');
    const record = (...args: string[]) => runJson(['history', 'record', '--to', golden, ...args], env);
    const own = ['--workflows-path', path.join(USERS, 'before.ts')];
    expect((await record(film, posters, '--redact', '--keep', 'model', ...own)).reply.data?.files).toEqual([
      'generateVideo-1.json',
      'twoPosters-1.json',
    ]);
    expect((await record(film, '--redact')).reply.data?.files).toEqual(['generateVideo-2.json']);
    expect((await record(film, '--redact', '--label', 'slow-film')).reply.data?.files).toEqual([
      'generateVideo.slow-film.json',
    ]);
    const text = readFileSync(path.join(golden, 'generateVideo-1.json'), 'utf8');
    expect(text).not.toContain(film);
    const { data } = await replay('--golden', golden, ...own);
    expect(data?.summary).toEqual({ ...data?.summary, identical: 4 });
    expect(data?.targets.flatMap(({ runs = [] }) => runs.map(({ workflowId }) => workflowId)).sort()).toEqual(
      ['generateVideo-1', 'generateVideo-2', 'slow-film', 'twoPosters-1'],
    );
    const payloads = JSON.stringify(JSON.parse(text)).matchAll(/"data":"([^"]+)"/g);
    const said = [...payloads].map(([, data = '']) => Buffer.from(data, 'base64').toString()).join();
    expect(said).toContain('sketch-lite');
    expect(said).not.toContain('canary');

    const exported = file('labelled.json');
    await runJson(['history', 'export', film, exported, '--redact', '--label', 'film-of-may'], env);
    expect(readFileSync(exported, 'utf8')).toContain('film-of-may');
  });

  it('what the code does not replay is not recorded; unknown fields of --keep are a usage error', async () => {
    const golden = file('golden-refused');
    const removed = ['--workflows-path', path.join(USERS, 'patch-removed.ts')];
    const refused = await runJson(['history', 'record', posters, film, '--to', golden, ...removed], env);
    expect([refused.code, refused.reply.error?.type]).toEqual([5, 'replay_differs']);
    expect(refused.reply.error?.message).toContain(`${posters} (diverges)`);
    // The others are recorded all the same.
    expect(refused.reply.data?.files).toEqual([`generateVideo.${film}.json`]);
    const wrong = await runJson(['history', 'export', film, 'x.json', '--redact', '--keep', 'model,prompt']);
    expect([wrong.code, wrong.reply.error?.type]).toEqual([2, 'usage']);
    expect(wrong.reply.error?.message).toMatch(/^--keep cannot be prompt\. Allowed: model, currency,/);
    const alone = await runJson(['history', 'export', film, 'x.json', '--keep', 'model']);
    expect([alone.code, alone.reply.error?.message]).toEqual([2, '--keep and --label require --redact.']);
  });

  it('of what is none: each with its type and code', async () => {
    const text = readFileSync(file('film.json'), 'utf8');
    writeFileSync(file('cut.json'), text.slice(0, 3000));
    writeFileSync(file('other.json'), '{"a":1}');
    writeFileSync(file('go.json'), text.replaceAll('temporal-typescript', 'temporal-go'));
    const encoding = Buffer.from('json/plain').toString('base64');
    writeFileSync(
      file('hidden.json'),
      text.replaceAll(encoding, Buffer.from('binary/encrypted').toString('base64')),
    );
    expect(await replay(file('cut.json'))).toMatchObject({ code: 65, type: 'history_unusable' });
    expect(await replay(file('other.json'))).toMatchObject({ code: 65, type: 'history_unusable' });
    expect(await replay(file('absent.json'))).toMatchObject({ code: 65, type: 'not_found' });
    expect(await replay(file('hidden.json'))).toMatchObject({ code: 69, type: 'payload_unreadable' });
    expect(await replay('no-such-workflow')).toMatchObject({ code: 65, type: 'not_found' });
    expect(await replay(file('go.json'))).toMatchObject({
      code: 5,
      verdict: { verdict: 'not_replayed', reason: 'other_sdk' },
    });
    for (const wrong of [
      [],
      ['a', '--all-open'],
      ['a', '--at', '7'],
      ['a', 'b', '--inspect'],
      ['a', '--concurrency', '0'],
    ])
      expect(await replay(...wrong)).toMatchObject({ code: 2, type: 'usage' });
  });

  it.each([
    ['where the workflow begins', [], ['execute']],
    ['where the code issues the command of an event', ['--at', '5'], ['activator.pushCommand', 'raceCreate']],
    ['before the workflow task that reads an event', ['--at', '8'], ['activate']],
  ])('under an inspector: stops %s, with sources', async (_what, at, functions) => {
    const command = startCli(['replay', file('film.json'), '--inspect', '0', ...at, '--json'], env);
    const line = await command.untilLine('stderr', /^Debugger listening on ws:/);
    const stop = await stopOf(line.replace('Debugger listening on ', ''));
    expect(stop.functions[0]).toBe(functions[0]);
    expect(stop.functions).toEqual(expect.arrayContaining(functions));
    expect(stop.sourceMapURL).toMatch(/^data:application\/json/);
    expect(await command.ended).toMatchObject({ code: 0 });
  });
});

interface Stop {
  readonly functions: readonly string[];
  /** Of the script of the innermost function. */
  readonly sourceMapURL: string;
}

/** Attaches as an editor does, waits for the stop, and lets the process run on. */
async function stopOf(address: string): Promise<Stop> {
  const socket = new WebSocket(address);
  const scripts = new Map<string, string>();
  let id = 0;
  const send = (method: string): void => socket.send(JSON.stringify({ id: (id += 1), method }));
  return new Promise((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error('The inspector is away.')));
    socket.addEventListener('open', () => {
      for (const method of ['Runtime.enable', 'Debugger.enable', 'Runtime.runIfWaitingForDebugger'])
        send(method);
    });
    socket.addEventListener('message', ({ data }) => {
      const { method, params } = JSON.parse(String(data)) as {
        method?: string;
        params?: Record<string, never>;
      };
      if (method === 'Debugger.scriptParsed')
        scripts.set(params?.['scriptId'] ?? '', params?.['sourceMapURL'] ?? '');
      if (method !== 'Debugger.paused') return;
      const frames = (params?.['callFrames'] ?? []) as readonly {
        functionName: string;
        location: { scriptId: string };
      }[];
      send('Debugger.resume');
      send('Debugger.disable');
      socket.close();
      resolve({
        functions: frames.map(({ functionName }) => functionName),
        sourceMapURL: scripts.get(frames[0]?.location.scriptId ?? '') ?? '',
      });
    });
  });
}
