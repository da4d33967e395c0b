import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  resolveTemporalServer,
  type TemporalServerSource,
} from '../../../packages/testing/src/temporal-server';
import { fakeHome, type FakeHome, versionScript } from './fake-commands';

/** A `go` that logs its call and, after it was seen at work, installs a `temporal` into GOBIN. */
const FAKE_GO = (root: string, version: string): string => `
const fs = require('node:fs');
fs.appendFileSync(${JSON.stringify(path.join(root, 'calls'))}, process.argv.slice(2).join(' ') + '\\n');
setTimeout(() => {
  const file = process.env.GOBIN + '/temporal';
  fs.writeFileSync(file, '#!' + process.execPath + '\\n' + ${JSON.stringify(versionScript(version))});
  fs.chmodSync(file, 0o755);
}, 300);`;

describe('the go install step', () => {
  let home: FakeHome;
  let lines: string[];
  const resolve = (): Promise<TemporalServerSource> =>
    resolveTemporalServer({ env: home.env, allowDownload: false, onProgress: (line) => lines.push(line) });

  beforeEach(async () => {
    lines = [];
    home = await fakeHome();
  });
  afterEach(() => home.remove());

  test('builds the pinned version into the cache, told before; the next search takes it from there', async () => {
    await home.script('bin/go', FAKE_GO(home.root, '0.0.0-DEV (Server 1.29.1, UI 2.42.1)'));
    const target = path.join(home.cacheDir, 'temporal');
    await expect(resolve()).resolves.toMatchObject({ path: target, foundBy: 'go-install' });
    expect(await readFile(path.join(home.root, 'calls'), 'utf8')).toBe(
      'install -ldflags -s -w github.com/temporalio/cli/cmd/temporal@v1.5.1\n',
    );
    expect(lines[0]).toMatch(/^Building the Temporal CLI once with `go install`/);
    expect(await readdir(home.cacheDir)).toEqual(['temporal']);
    await expect(resolve()).resolves.toMatchObject({ path: target, foundBy: 'cache' });
  });

  test('two searches at once build once; the second waits and takes the result', async () => {
    await home.script('bin/go', FAKE_GO(home.root, '0.0.0-DEV (Server 1.29.1, UI 2.42.1)'));
    const found = await Promise.all([resolve(), resolve()]);
    expect(found.map((source) => source.kind === 'executable' && source.foundBy)).toEqual([
      'go-install',
      'go-install',
    ]);
    expect((await readFile(path.join(home.root, 'calls'), 'utf8')).trim().split('\n')).toHaveLength(1);
    expect(lines).toContain(`Process ${process.pid} is already installing the Temporal CLI; waiting for it.`);
  });

  test('what a killed build left is neither taken nor kept', async () => {
    const abandoned = path.join(home.cacheDir, 'build-old');
    await mkdir(abandoned, { recursive: true });
    await writeFile(path.join(abandoned, 'temporal'), 'half a binary');
    await home.script('bin/go', FAKE_GO(home.root, '0.0.0-DEV (Server 1.29.1, UI 2.42.1)'));
    await expect(resolve()).resolves.toMatchObject({ foundBy: 'go-install' });
    expect(await readdir(home.cacheDir)).toEqual(['temporal']);
  });

  test('a failed build leaves nothing behind and says why', async () => {
    await home.script('bin/go', 'console.error("first"); console.error("no such module"); process.exit(1);');
    await expect(resolve()).rejects.toThrow('`go install`: it failed: no such module.');
    expect(await readdir(home.cacheDir)).toEqual([]);
  });

  test('without a Go toolchain the reason says so', async () => {
    await expect(resolve()).rejects.toThrow('`go install`: the Go toolchain (`go`) is not on PATH.');
  });
});
