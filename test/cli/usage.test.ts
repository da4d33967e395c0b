import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../src/stores/files/this-machine';
import { runCli, runJson, startCli } from './support/run-cli';

describe('temporal-media without any server', () => {
  let dir: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-usage-'));
    // Nobody listens there: whatever is refused with another code was refused before anything was sent.
    env = { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`, MEDIA_DATA_DIR: path.join(dir, 'data') };
    await writeFile(path.join(dir, 'fake.png'), 'no image at all');
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('--help lists the commands, examples and exit codes on stdout', async () => {
    const { code, stdout } = await runCli(['--help']);
    expect(code).toBe(0);
    for (const word of ['dev', 'video', 'image', 'edit', 'resume', 'sandbox', 'worker', 'demo'])
      expect(stdout).toMatch(new RegExp(`^  ${word} `, 'm'));
    expect(stdout).toContain('Examples:');
    expect(stdout).toMatch(/75 {2}still running/);
  });

  test('--version is the version of the package', async () => {
    const { version } = jest.requireActual<{ version: string }>('../../package.json');
    expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('an unknown command is a usage error with a suggestion', async () => {
    const { code, stdout, stderr } = await runCli(['vido']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Did you mean video?');
  });

  test.each([
    ['a missing option', ['video', '--model', 'cine-1'], '--prompt'],
    ['an unknown option', ['image', '--model', 'm', '--prompt', 'p', '--seize', '1x1'], '--seize'],
    ['no argument', ['resume'], 'workflow-or-task-id'],
  ])('%s with --json is one JSON object and exit code 2', async (_title, args, named) => {
    const { code, reply } = await runJson(args);
    expect(code).toBe(2);
    expect(reply).toMatchObject({ ok: false, error: { type: 'usage' } });
    expect(reply.error?.message).toContain(named);
  });

  test('wrong usage points to the help of the command that was typed', async () => {
    const { reply } = await runJson(['campaign', 'run', '--budgett', '5']);
    expect(reply.error?.hint).toContain('`temporal-media campaign run --help`');
    expect((await runJson(['vido'])).reply.error?.hint).toContain('temporal-media COMMAND --help');
  });

  test('a command without its command is told so, below its help', async () => {
    const { code, stdout, stderr } = await runCli(['campaign']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: temporal-media campaign/m);
    expect(stderr).toMatch(/^error: Specify a command\.$/m);
  });

  test('help says which options are required', async () => {
    const { stdout } = await runCli(['campaign', 'declare-lost', '--help']);
    expect(stdout).toMatch(/--reason <text> [^-]*\(required\)/);
    expect(stdout.match(/\(required\)/g)).toHaveLength(1);
  });

  test('what goes on keeps what held before, and its help says so', async () => {
    const { stdout } = await runCli(['campaign', 'resume', '--help']);
    expect(stdout.replace(/\s+/g, ' ').match(/\(default: previous value\)/g)).toHaveLength(3);
    expect((await runCli(['campaign', 'run', '--help'])).stdout).not.toContain('previous value');
  });

  const video = ['video', '--model', 'cine-1', '--prompt', 'a cat'];
  const image = ['image', '--model', 'image-2', '--prompt', 'a cat'];
  const edit = ['edit', '--model', 'image-2', '--prompt', 'a cat'];
  test.each<[string, string[], RegExp]>([
    ['[C2.1.1] an empty prompt', ['video', '--model', 'cine-1', '--prompt', ' '], /prompt is required/],
    ['[C2.1.1] an empty model', ['video', '--model', '', '--prompt', 'a cat'], /model is required/],
    ['a duration with a fraction', [...video, '--duration', '2.5'], /durationSeconds/],
    ['a duration that is no number', [...video, '--duration', 'long'], /durationSeconds/],
    [
      '[C2.3.2] a size with the multiplication sign',
      [...image, '--size', '512×512'],
      /size must be WIDTHxHEIGHT/,
    ],
    ['no results', [...image, '--n', '0'], /n must be a whole number/],
    ['an unknown response format', [...image, '--response-format', 'webp'], /Allowed: url, b64_json/],
    ['an edit without a file', edit, /at least one image file/],
    [
      'a system file as a reference',
      [...video, '--reference', 'image=/etc/passwd'],
      /--reference.*\/etc\/passwd/,
    ],
    [
      'a system file as an image',
      [...edit, '--image', '/etc/passwd'],
      /--image.*not an image, a video or audio/,
    ],
    ['a missing file', [...video, '--reference', 'image=./not-there.png'], /--reference.*does not exist/],
    ['an unknown kind', [...video, '--reference', 'smell=x.png'], /Allowed: image, video, audio/],
    ['a local path in a field', [...video, '--field', 'camera=/home/me/x'], /fields\.camera.*[Ll]ocal path/],
    ['a covered field', [...video, '--field', 'seconds=4'], /fields\.seconds/],
    ['a wait without a unit', [...video, '--wait-for', '15'], /--wait-for/],
    [
      'an unknown way of polling',
      [...video, '--polling', 'often'],
      /--polling must be own or shared|Allowed: own/,
    ],
    ['an empty id', [...video, '--id', ''], /--id/],
  ])('%s is refused before anything starts', async (_title, args, message) => {
    const { code, reply } = await runJson([...args, '--out', dir], env);
    expect(code).toBe(65);
    expect(reply.error).toMatchObject({ type: 'rejected/invalid_request' });
    expect(reply.error?.message).toMatch(message);
  });

  test('a file is validated by its bytes and not by its name', async () => {
    const { code, reply } = await runJson([...edit, '--image', path.join(dir, 'fake.png')], env);
    expect(code).toBe(65);
    expect(reply.error?.message).toContain('is not an image, a video or audio');
  });

  test('a value that looks like an output option is a value', async () => {
    const dry = (prompt: string, ...more: string[]) =>
      runCli(['video', '--model', 'm', '--dry-run', '--prompt', prompt, ...more], env);
    const text = await dry('--json');
    expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/^POST /) as string });
    expect(text.stdout).toContain('"prompt": "--json"');
    expect((await dry('-o', '--json')).stdout).toMatch(/^\{"ok":true,/);
    expect((await dry('-ojsonl', '-o', 'json')).stdout).toMatch(/^\{"ok":true,/);
  });

  test('a reader that has seen enough is no failure', async () => {
    const { child, ended } = startCli(['schema', 'video-outcome'], env);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('no Temporal server: exit code 69 with the remedy', async () => {
    const { code, reply, stderr } = await runJson([...video, '--out', dir], env);
    expect(code).toBe(69);
    expect(reply.error).toMatchObject({ type: 'temporal_unreachable' });
    expect(reply.error?.hint).toContain('temporal-media dev');
    expect(stderr).toContain('hint: ');
  });

  test('a directory that cannot be written is refused before the start', async () => {
    const { code, reply } = await runJson([...video, '--out', path.join(dir, 'fake.png', 'out')], env);
    expect(code).toBe(73);
    expect(reply.error?.message).toContain('--out');
  });

  test.each([
    ['no base address', {}, 'MEDIA_BASE_URL'],
    ['no key', { MEDIA_BASE_URL: 'http://127.0.0.1:9' }, 'MEDIA_API_KEY'],
    ['a base address that is none', { MEDIA_BASE_URL: 'service', MEDIA_API_KEY: 'k' }, 'MEDIA_BASE_URL'],
  ])('a worker with %s: exit code 78', async (_title, own, named) => {
    const { code, reply } = await runJson(['worker'], { ...env, ...own });
    expect(code).toBe(78);
    expect(reply.error).toMatchObject({ type: 'configuration' });
    expect(reply.error?.message).toContain(named);
  });

  test('a worker without a Temporal server: exit code 69', async () => {
    const own = { MEDIA_BASE_URL: 'http://127.0.0.1:9', MEDIA_API_KEY: 'k' };
    const { code, reply } = await runJson(['worker'], { ...env, ...own });
    const message = `No Temporal server responded at ${env['TEMPORAL_ADDRESS']}.`;
    expect(reply.error).toMatchObject({ type: 'temporal_unreachable', message });
    expect(code).toBe(69);
  });

  describe('a manifest that is refused', () => {
    const entry = {
      id: 'cine-1',
      kind: 'video',
      durations: [2],
      price: { per: 'second', microUnits: 50_000, currency: 'USD' },
    };
    const header = 'model,prompt,duration';

    test.each([
      [
        'a budget in another currency',
        [header, 'cine-1,a cat,2'],
        ['--budget', '5EUR'],
        /the currency of the prices \(USD\)/,
      ],
      ['a header that is not known', ['model,promt', 'cine-1,a cat'], [], /^Fix the header/],
      ['no row', [header], [], /^Add one row below the header/],
      [
        'no valid row',
        [header, 'cine-1,,2'],
        ['--on-invalid', 'skip'],
        /^Fix the listed lines\. --dry-run -o jsonl/,
      ],
      [
        'a budget for a model without a price',
        [header, 'free-1,a cat,'],
        ['--budget', '5USD'],
        /omit the budget/,
      ],
    ])('%s: what helps, and no estimate', async (_title, lines, more, hint) => {
      const models = path.join(dir, 'models.json');
      await writeFile(
        models,
        JSON.stringify({ version: 1, models: [entry, { id: 'free-1', kind: 'video' }] }),
      );
      const manifest = path.join(dir, 'refused.csv');
      await writeFile(manifest, `${lines.join('\n')}\n`);
      const own = { ...env, MEDIA_MODELS: models };
      const args = ['campaign', 'run', manifest, '--dry-run', ...more];
      const { code, reply } = await runJson(args, own);
      expect(code).toBe(65);
      expect(reply.error?.hint).toMatch(hint);
      const { stdout } = await runCli(args, own);
      expect(stdout).not.toMatch(/to do|nothing to buy/);
    });
  });
});
