import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type * as sandboxModule from '../../packages/sandbox/src';
import type * as failureTable from '../../src/domain/failure-table';
import type * as modelConfig from '../../src/domain/model-config';
import type * as columns from '../../src/manifest/columns';
import type * as rowValues from '../../src/manifest/manifest-row';
import type * as rowCall from '../../src/manifest/row-call';
import type * as errors from '../../src/service/classify-reply';
import type * as statusValues from '../../src/service/video-record';
import type * as schema from '../../src/settings/model-schema';

const ROOT = path.resolve(__dirname, '..', '..');
/** Below node_modules, so that the copy finds the packages. */
const COPY = path.join(ROOT, 'node_modules', '.cache', 'temporal-media', 'contributing');

/** Packages in which the page changes something, the core first. */
const CHANGED = ['.', 'packages/cli', 'packages/sandbox'];

/** One block: a file, and places of it with the lines to take away and to add. */
interface Change {
  readonly file: string;
  readonly hunks: readonly { readonly before: string; readonly after: string }[];
}

function changesOf(page: string): readonly Change[] {
  return [...page.matchAll(/```diff\n(\S+)\n([\s\S]*?)```/g)].map(([, file = '', text = '']) => ({
    file,
    hunks: text.split(/^@@\n/m).map((hunk) => {
      const lines = hunk.split('\n').slice(0, -1);
      const side = (mark: string) =>
        lines.flatMap((line) => (line.startsWith(mark) ? [] : [`${line.slice(1)}\n`])).join('');
      return { before: side('+'), after: side('-') };
    }),
  }));
}

/** The worked examples of CONTRIBUTING.md, all made at once on a copy of the sources. */
describe('the changes that CONTRIBUTING.md shows', () => {
  const changes = changesOf(readFileSync(path.join(ROOT, 'CONTRIBUTING.md'), 'utf8'));
  const compiled = <Module extends object>(file: string): Module =>
    jest.requireActual<Module>(path.join(COPY, file));

  beforeAll(() => {
    rmSync(COPY, { recursive: true, force: true });
    for (const name of CHANGED)
      for (const part of ['src', 'package.json'])
        cpSync(path.join(ROOT, name, part), path.join(COPY, name, part), { recursive: true });
    // The copied companions use the copied core; all other packages are those of the repository.
    mkdirSync(path.join(COPY, 'node_modules'));
    symlinkSync(COPY, path.join(COPY, 'node_modules', 'temporal-media'));
    for (const { file, hunks } of changes) {
      let text = readFileSync(path.join(COPY, file), 'utf8');
      for (const { before, after } of hunks) {
        const parts = text.split(before);
        if (parts.length !== 2) throw new Error(`${file} has this ${parts.length - 1} times:\n${before}`);
        text = parts.join(after);
      }
      writeFileSync(path.join(COPY, file), text);
    }
    for (const name of CHANGED) {
      const config = {
        extends: path.join(ROOT, 'tsconfig.build.json'),
        compilerOptions: { rootDir: 'src', outDir: 'lib', declarationMap: false, sourceMap: false },
        include: ['src'],
      };
      const folder = path.join(COPY, name);
      writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
      const tsc = path.join(ROOT, 'node_modules/typescript-7/bin/tsc');
      const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, '']);
    }
  });

  afterAll(() => rmSync(COPY, { recursive: true, force: true }));

  it('are at most two places each', () => {
    const page = readFileSync(path.join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const examples = page.split(/^\*\*A/m).slice(1);
    const places = examples.map((example) => new Set(changesOf(example).map(({ file }) => file)).size);
    expect(places).toHaveLength(8);
    for (const count of places) expect([1, 2]).toContain(count);
  });

  it('a status value', () => {
    expect(compiled<typeof statusValues>('lib/service/video-record').phaseOf('rendered')).toBe('completed');
  });

  it('an error code', () => {
    const { errorKind } = compiled<typeof errors>('lib/service/classify-reply');
    expect(errorKind({ codes: ['at_full_load'], types: [], text: '', httpStatus: 400 })).toBe('capacity');
  });

  it('a field of the model configuration', () => {
    const { readModelConfiguration } = compiled<typeof schema>('lib/settings/model-schema');
    const read = readModelConfiguration({
      version: 1,
      models: [{ id: 'cine-1', kind: 'video', maxPromptCharacters: 5 }],
    });
    if (!read.ok) throw new Error(read.message);
    const [entry] = read.configuration.models;
    const { validateAgainstModel } = compiled<typeof modelConfig>('lib/domain/model-config');
    const issues = (prompt: string) =>
      validateAgainstModel(
        { operation: 'create_video', request: { model: 'cine-1', prompt } },
        { found: 'entry', entry: entry! },
      ).issues;
    expect(issues('kites')).toEqual([]);
    expect(issues('six of')).toEqual([
      { field: 'prompt', message: 'This model accepts at most 5 characters.' },
    ]);
  });

  it('an option of the paid commands', () => {
    const main = path.join(COPY, 'packages', 'cli', 'lib', 'main.js');
    for (const command of ['video', 'image', 'edit']) {
      const { stdout } = spawnSync(process.execPath, [main, command, '--help'], { encoding: 'utf8' });
      expect(stdout).toContain('--free');
    }
  });

  it('a reason of an outcome', () => {
    const { failureRow, isTemporary } = compiled<typeof failureTable>('lib/domain/failure-table');
    const row = failureRow({ outcome: 'rejected', reason: 'maintenance' });
    expect(row?.hint).toBe('Start again under the same id when the maintenance has ended.');
    expect(isTemporary('maintenance')).toBe(true);
    // In a process of its own: jest would give the copied command line the core of the repository.
    const table = path.join(COPY, 'packages', 'cli', 'lib', 'shared', 'exit-codes.js');
    const script = `console.log(require(${JSON.stringify(table)}).errorType('rejected/maintenance').exitCode)`;
    expect(spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stdout).toBe('5\n');
  });

  it('a retry policy', () => {
    const proxies = readFileSync(path.join(COPY, 'lib', 'workflows', 'proxies.js'), 'utf8');
    expect(proxies).toContain("maximumInterval: '10 minutes'");
  });

  it('a column of manifests', async () => {
    const { columnOf } = compiled<typeof columns>('lib/manifest/columns');
    const { readCall } = compiled<typeof rowCall>('lib/manifest/row-call');
    const { RowValues } = compiled<typeof rowValues>('lib/manifest/manifest-row');
    const given = { model: 'cine-1', prompt: 'a kite', seed: 7 };
    const values = new Map(
      Object.entries(given).map(([written, value]) => {
        const column = columnOf(written, 'jsonl', 1);
        if ('message' in column) throw new Error(column.message);
        return [column.key, { ...column, written, value }];
      }),
    );
    const row = new RowValues({ line: 1, values, issues: [] });
    const lookup = { kindOf: () => Promise.resolve('video') } as unknown as Parameters<typeof readCall>[1];
    expect(await readCall(row, lookup)).toMatchObject({ request: { fields: { seed: 7 } } });
  });

  it('a fault of the sandbox', async () => {
    const { createSandbox } = compiled<typeof sandboxModule>('packages/sandbox/lib');
    const rule = { operation: 'models', action: { type: 'empty_body' } };
    const sandbox = await createSandbox({ faults: [rule as unknown as sandboxModule.FaultRule] });
    try {
      const reply = await fetch(sandbox.modelsUrl);
      expect([reply.status, await reply.text()]).toEqual([200, '']);
    } finally {
      await sandbox.close();
    }
  });
});
