import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import '../support/quiet-temporal';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { replayInPool } from '../../packages/cli/src/replay/replay-pool';
import { type ReplayRequest, type TargetReport } from '../../packages/cli/src/replay/target-report';
import { failureOf } from '../../packages/cli/src/shared/errors';
import { type UnloadedTarget } from '../../packages/replay/src/history-folder';
import { type ReplayCode } from '../../packages/replay/src/replay-histories';

const GOLDEN = path.join(__dirname, '..', 'golden');
const THREAD = path.join(__dirname, '..', '..', 'packages', 'cli', 'lib', 'replay', 'replay-thread.js');
const MUTATED = path.join(__dirname, 'mutated-workflows.ts');
/** Of histories that the changed code does not replay, in the order of their names. */
const COUNT = 12;

describe('histories that several threads replay', () => {
  let folder: string;
  let code: ReplayCode;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'temporal-media-pool-'));
    const golden = path.join(GOLDEN, 'generateVideo.completed.v1.json');
    // Small and large ones in turn, so that threads overtake each other.
    const long = path.join(GOLDEN, 'generateVideo.completed-unchanged-ticks.v1.json');
    for (let n = 0; n < COUNT; n += 1) cpSync(n % 3 === 0 ? long : golden, fileOf(n));
    writeFileSync(fileOf(4), '{"events":[');
    code = {
      bundle: await bundleWorkflowCode({ workflowsPath: MUTATED, logger: new DefaultLogger('ERROR') }),
    };
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const fileOf = (n: number): string => path.join(folder, `history-${String(n).padStart(2, '0')}.json`);
  const requestOf = (targets: readonly string[], options: ReplayRequest['options'] = {}): ReplayRequest => ({
    code,
    env: {},
    targets,
    options,
  });

  /** A file that is read to its end only when somebody has written to it. */
  function pipe(name: string): string {
    const place = path.join(folder, name);
    execFileSync('mkfifo', [place]);
    return place;
  }

  async function reportsOf(request: ReplayRequest, concurrency: number, entry = THREAD) {
    const reports: (TargetReport | UnloadedTarget)[] = [];
    for await (const report of replayInPool(request, { concurrency, entry })) reports.push(report);
    return reports;
  }

  it('another thread has the verdicts of this one, with lines, timelines and unreadable files, in the same order', async () => {
    // This thread waits for its first history until the other one is through with the rest.
    const waits = pipe('waits');
    const entry = path.join(folder, 'then-write.js');
    writeFileSync(
      entry,
      `const { parentPort } = require('node:worker_threads');
       const { readFileSync, writeFileSync } = require('node:fs');
       const post = parentPort.postMessage.bind(parentPort);
       parentPort.postMessage = (message) => {
         post(message);
         if (message.done) writeFileSync(${JSON.stringify(waits)}, readFileSync(${JSON.stringify(fileOf(1))}));
       };
       require(${JSON.stringify(THREAD)});`,
    );
    const reports = await reportsOf(requestOf([waits, folder], { timeline: true }), 2, entry);
    const alone = await reportsOf(requestOf([fileOf(1), folder], { timeline: true }), 1);
    expect(reports.slice(1)).toEqual(alone.slice(1));
    expect(reports[0]).toMatchObject({ target: waits, runs: [{ verdict: { verdict: 'diverges' } }] });
    expect(alone.slice(1).map((one) => ('error' in one ? one.target : one.runs[0]?.source))).toEqual(
      Array.from({ length: COUNT }, (_, n) => path.basename(fileOf(n))),
    );
    const verdicts = alone.map((one) => ('error' in one ? one.error.code : one.runs[0]?.verdict.verdict));
    expect(new Set(verdicts)).toEqual(new Set(['diverges', 'truncated']));
    expect(alone[2]).toMatchObject({
      runs: [{ verdict: { divergence: { at: [{ file: MUTATED }] } } }],
      timeline: { workflowType: 'generateVideo' },
    });
  });

  it('reports come in the order of names, whoever made them', async () => {
    const alone = await reportsOf(requestOf([folder]), 1);
    expect(await reportsOf(requestOf([folder]), 3)).toEqual(alone);
  });

  it('all of them are replayed by this thread where there is no other code', async () => {
    expect(await reportsOf(requestOf([folder]), 3, path.join(folder, 'none.js'))).toHaveLength(COUNT);
  });

  it('a named file that is no history ends all, as in one thread', async () => {
    const good = [0, 1, 2, 3].map(fileOf);
    for (const threads of [1, 2]) {
      const failed = reportsOf(requestOf([...good, fileOf(4), ...good]), threads);
      const error: unknown = await failed.catch((thrown: unknown) => thrown);
      expect(failureOf(error).reply).toMatchObject({
        type: 'history_unusable',
        message: expect.stringContaining('history-04.json ends in the middle') as string,
      });
    }
  });

  it('a thread that dies is an error with the name of what it replayed', async () => {
    const entry = path.join(folder, 'dies.js');
    writeFileSync(
      entry,
      `const { parentPort } = require('node:worker_threads');
       parentPort.on('message', () => { throw new Error('out of luck'); });`,
    );
    const waits = pipe('waits-for-nothing');
    const failed = reportsOf(requestOf([waits, folder]), 2, entry);
    const error: unknown = await failed.catch((thrown: unknown) => thrown);
    writeFileSync(waits, '');
    const { type, message, hint } = failureOf(error).reply;
    expect(type).toBe('unexpected');
    expect(message).toMatch(/^A replay thread stopped while it replayed .*history-\d\d\.json: out of luck$/);
    expect(hint).toContain('--concurrency 1');
  });

  it('a report for each workflow of a folder, in files of one workflow the runs together', async () => {
    const runs = path.join(folder, 'runs');
    cpSync(fileOf(1), path.join(runs, 'a.json'));
    const text = readFileSync(fileOf(1), 'utf8');
    const id = /"originalExecutionRunId": ?"([^"]+)"/.exec(text)?.[1] ?? '';
    writeFileSync(
      path.join(runs, 'b.json'),
      text
        .replaceAll(id, '00000000-0000-4000-8000-000000000000')
        .replace('"originalExecutionRunId"', `"continuedExecutionRunId": "${id}", "originalExecutionRunId"`),
    );
    const [report, ...others] = await reportsOf(requestOf([runs]), 2);
    expect(others).toEqual([]);
    expect(report).toMatchObject({ runs: [{ source: 'a.json' }, { source: 'b.json' }] });
  });
});
