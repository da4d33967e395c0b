import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderImage } from '../../../packages/sandbox/src/render-image';
import { type CliBench, openCliBench } from '../support/cli-bench';
import { runCli, runJson } from '../support/run-cli';

interface DryRun {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body?: Record<string, unknown>;
    readonly parts?: readonly Record<string, string>[];
  };
  readonly estimate: { readonly microUnits: number; readonly currency: string } | null;
  readonly model: string;
}

describe('what a call would be, and what it may cost', () => {
  let bench: CliBench;
  let picture: string;
  let sha256: string;
  let bytes: number;
  /** A client that knows the service and its prices, and a Temporal server that nobody reaches. */
  let alone: NodeJS.ProcessEnv;
  const dryRun = async (args: readonly string[], env: NodeJS.ProcessEnv = alone): Promise<DryRun> => {
    const { code, reply } = await runJson([...args, '--dry-run'], env);
    expect([code, reply.error, reply.data?.['dryRun']]).toEqual([0, undefined, true]);
    return reply.data as unknown as DryRun;
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 100 } });
    picture = path.join(bench.dir, 'cup.png');
    const spec = { kind: 'image', model: 'm', prompt: 'cup', width: 16, height: 16, index: 0 } as const;
    const png = renderImage({ ...spec, inputs: [] });
    await writeFile(picture, png);
    sha256 = createHash('sha256').update(png).digest('hex');
    bytes = png.length;
    const { MEDIA_API_KEY: _key, ...rest } = bench.workerEnv;
    alone = { ...rest, TEMPORAL_ADDRESS: '127.0.0.1:1', MEDIA_DATA_DIR: path.join(bench.dir, 'untouched') };
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('--dry-run shows the very request that is sent then, but for key, bytes and boundary; and leaves no trace', async () => {
    const png = await readFile(picture);
    const out = ['--out', path.join(bench.dir, 'out')];
    const video = ['video', '--model', 'motion-omni', '--prompt', 'it turns', '--duration', '3'];
    video.push('--resolution', '480p', '--aspect-ratio', '1:1', '--field', 'seed=4');
    video.push('--reference', `image=${picture}`, '--reference', 'video=https://example.com/a.mp4');
    const image = ['image', '--model', 'image-2', '--prompt', 'a map', '--size', '512x512', '--n', '2'];
    const edit = ['edit', '--model', 'image-2', '--prompt', 'join', '--size', '512x512'];
    edit.push('--image', picture, '--image', picture, '--mask', picture);
    const [shownVideo, shownImage, shownEdit] = await Promise.all(
      [video, image, edit].map((args) => dryRun(args)),
    );
    const asked = await bench.sandbox.admin.requests();
    expect(asked.filter(({ operation }) => operation !== 'models')).toEqual([]);
    await expect(readdir(path.join(bench.dir, 'untouched'))).rejects.toThrow('ENOENT');

    const real = await Promise.all(
      [video, image, edit].map((args) => runJson([...args, ...out], bench.clientEnv)),
    );
    expect(real.map(({ code }) => code)).toEqual([0, 0, 0]);
    const file = `<file sha256:${sha256} ${bytes} bytes>`;
    for (const [operation, shown] of [
      ['create', shownVideo],
      ['generate', shownImage],
      ['edit', shownEdit],
    ] as const) {
      const [sent] = await bench.sandbox.admin.requests({ operation });
      const { request } = shown as DryRun;
      expect([request.method, request.path]).toEqual([sent?.method, sent?.path]);
      const own = sent?.headerNames.filter(
        (name) => !/^(host|connection|content-length|transfer-encoding)$/.test(name),
      );
      expect(Object.keys(request.headers).sort()).toEqual(own?.sort());
      expect(request.headers['authorization']).toBe('Bearer <key>');
      if (operation === 'edit') {
        const parts = sent?.parts?.map((part) =>
          part.kind === 'file'
            ? { name: part.name, fileName: part.filename, mediaType: part.contentType, file }
            : { name: part.name, value: part.value },
        );
        expect(request.parts).toEqual(parts);
      } else {
        const text = JSON.stringify(request.body).replaceAll(file, png.toString('base64'));
        expect(text).toBe(JSON.stringify(sent?.json));
      }
    }
  });

  test('[C2.1.4] a file for a model that takes URLs: a bucket signs its address, a folder cannot', async () => {
    const args = ['video', '--model', 'cine-1', '--prompt', 'x', '--reference', `image=${picture}`];
    const bucket = { ...alone, MEDIA_ARTIFACTS: 's3://no-such-bucket/media', AWS_REGION: 'us-east-1' };
    const { request } = await dryRun(args, bucket);
    expect(request.body?.['reference_images']).toEqual([`<signed URL of artifact:sha256/${sha256}>`]);
    const { code, reply } = await runJson([...args, '--dry-run'], alone);
    expect([code, reply.error?.message]).toEqual([65, expect.stringContaining('MEDIA_ARTIFACTS')]);
  });

  test('[C1.5] [C1.7] the estimate comes from the price rule; none is null and never 0', async () => {
    const cine = ['video', '--model', 'cine-1', '--prompt', 'x'];
    const [timed, untimed, two, free] = await Promise.all([
      dryRun([...cine, '--duration', '4']),
      dryRun(cine),
      dryRun(['image', '--model', 'image-2', '--prompt', 'x', '--n', '2']),
      dryRun(['video', '--model', 'any', '--prompt', 'x'], { MEDIA_DATA_DIR: alone['MEDIA_DATA_DIR'] }),
    ]);
    expect(timed).toMatchObject({ estimate: { microUnits: 200_000, currency: 'USD' }, model: 'entry' });
    expect(untimed.estimate).toBeNull();
    expect(two).toMatchObject({ estimate: { microUnits: 80_000 } });
    expect(free).toMatchObject({ estimate: null, model: 'unlisted', request: { path: '/v1/videos' } });
  });

  test('[C5.4a] [C5.4b] text: the request and the estimate on stdout, no key and no signature', async () => {
    const args = [
      'video',
      '--model',
      'motion-omni',
      '--prompt',
      'see https://a.example/?b=1',
      '--duration',
      '3',
    ];
    args.push('--reference', 'video=https://user:word@example.com/a.mp4?sig=s3cret');
    args.push('--reference', 'image=https://example.com/a.png?sig=s3cret');
    const run = await runCli([...args, '--dry-run'], { ...alone, MEDIA_API_KEY: 'k3y-of-the-worker' });
    expect(run.code).toBe(0);
    expect(run.stdout).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/v1\/videos$/m);
    expect(run.stdout).toMatch(/^estimate: 0\.36 USD$/m);
    expect(run.stdout).toContain('"prompt": "see https://a.example/?b=1"');
    expect(run.stdout).toContain('https://example.com/a.mp4?<query>');
    expect(run.stdout).toContain('<bytes of https://example.com/a.png?<query>, fetched by the worker>');
    expect(run.stdout + run.stderr).not.toMatch(/s3cret|k3y|user:word/);
    expect(run.stderr).toContain('nothing was sent');
  });

  test.each([
    [
      '[C8.1] what the model does not take',
      ['--model', 'cine-1', '--duration', '3'],
      /--duration \(durationSeconds\).*Allowed: 2, 4, 8\./,
    ],
    ['an image model', ['--model', 'image-2'], /creates images/],
    [
      'an unknown model names those that make videos',
      ['--model', 'cine-9'],
      /Allowed: cine-1, .*open-canvas\.$/,
    ],
    [
      'a duration that is no number',
      ['--model', 'cine-1', '--duration', 'abc'],
      /--duration \(durationSeconds\) must/,
    ],
  ])('%s is refused by --dry-run too: 65', async (_title, args, message) => {
    const { code, reply } = await runJson(['video', '--prompt', 'x', ...args, '--dry-run'], alone);
    expect([code, reply.error?.type]).toEqual([65, 'rejected/invalid_request']);
    expect(reply.error?.message).toMatch(message);
    expect(reply.error?.hint).toContain('temporal-media models');
  });

  test.each([
    ['video', /Allowed: cine-1, cine-1-pro, .*open-canvas\.$/],
    ['image', /Allowed: image-2, image-2 4K\.$/],
  ])('a worker too names only the models that make a %s', async (command, message) => {
    const { code, reply } = await runJson([command, '--model', 'cine-9', '--prompt', 'x'], bench.clientEnv);
    expect([code, reply.error?.type]).toEqual([65, 'rejected/invalid_request']);
    expect(reply.error?.message).toMatch(message);
  });

  test('above the limit, or unknown: exit code 6 before anything is started; --yes agrees, and so does a limit that is high enough', async () => {
    const cine = ['video', '--model', 'cine-1', '--prompt', 'x', '--duration', '2', '--resolution', '480p'];
    const plain = ['video', '--model', 'sketch-lite', '--prompt', 'x'];
    const env = { ...bench.clientEnv, MEDIA_MODELS: bench.workerEnv['MEDIA_MODELS'] };
    const paidCalls = async () => {
      const { creates, images } = await bench.sandbox.admin.counters();
      return { creates, images };
    };
    const before = await paidCalls();
    const refused = await Promise.all([
      runJson([...cine, '--max-spend', '0.099999'], alone),
      runJson([...cine, '--max-spend', '5 EUR'], alone),
      runJson(cine, { ...alone, MEDIA_MAX_SPEND: '0.01' }),
      runJson([...plain, '--max-spend', '100'], alone),
      runJson([...plain, '--max-spend', '100'], { MEDIA_DATA_DIR: alone['MEDIA_DATA_DIR'] }),
    ]);
    for (const { code, reply } of refused)
      expect([code, reply.error?.type]).toEqual([6, 'spend_not_confirmed']);
    expect(refused[0]?.reply).toMatchObject({
      data: {
        estimate: { microUnits: 100_000, currency: 'USD' },
        limit: { microUnits: 99_999, currency: null },
      },
    });
    expect(refused[3]?.reply).toMatchObject({ data: { estimate: null } });
    expect(refused[4]?.reply.error?.message).toContain('MEDIA_MODELS');
    expect(await paidCalls()).toEqual(before);

    const out = ['--out', path.join(bench.dir, 'out')];
    const agreed = await Promise.all([
      runJson([...cine, ...out, '--max-spend', '0.10USD'], env),
      runJson([...plain, ...out, '--max-spend', '0', '--yes'], env),
    ]);
    expect(agreed.map(({ code }) => code)).toEqual([0, 0]);
    expect(agreed[0]?.stderr).toContain('This will cost an estimated 0.10 USD (limit 0.10 USD).');
  });
});
