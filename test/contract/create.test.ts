import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SandboxRequest } from '../../packages/sandbox/src';
import { type ModelEntry } from '../../src/domain/model-config';
import { type VideoReference } from '../../src/domain/request';
import { makeMp4, makePng } from '../stores/artifacts/make-media';
import { type ContractBench, digest, openBench } from './contract-bench';

const bodyOf = (request: SandboxRequest | undefined) => request?.json as Record<string, unknown>;

/** Contract 2.1 over the wire. */
describe('a create request', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const lastBody = async () => bodyOf((await bench.seen('create')).at(-1));

  test('[C4.6] is POST /v1/videos with a JSON body, and its reply has id and status', async () => {
    const answer = await bench.created({ durationSeconds: 2 });
    const [request] = await bench.seen();
    expect(request).toMatchObject({ method: 'POST', path: '/v1/videos', accepted: true, status: 200 });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(answer).toMatchObject({ status: 'completed', video: { taskId: request?.taskId } });
  });

  test.each([
    ['model', { model: '' }],
    ['model', { model: '  ' }],
    ['model', { model: undefined }],
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: '\n ' }],
    ['prompt', { prompt: undefined }],
  ])('[C2.1.1] without a %s nothing is sent: %j', async (field, request) => {
    const answer = await bench.create(request as never);
    expect(answer).toMatchObject({ outcome: 'rejected', reason: 'invalid_request', field, sent: false });
    expect(await bench.seen()).toEqual([]);
  });

  test.each([
    ['cine-1', 2, { seconds: 2 }],
    ['cine-1-pro', 12, { seconds: 12 }],
    ['atlas-long', 10, { seconds: '10' }],
    ['motion-omni', 5, { duration: 5 }],
  ])('[C2.1.2] %s gets its duration of %d under one name: %j', async (model, durationSeconds, wire) => {
    await bench.created({ model, durationSeconds });
    const { seconds, duration } = await lastBody();
    expect(JSON.parse(JSON.stringify({ seconds, duration }))).toEqual(wire);
  });

  test('[C2.1.2] a duration that is no integer, or a second one as a raw field, is refused', async () => {
    const wrong = await Promise.all([
      bench.create({ durationSeconds: 2.5 }),
      bench.create({ durationSeconds: 0 }),
      bench.create({ durationSeconds: '4' as unknown as number }),
      bench.create({ durationSeconds: 5 }),
      bench.create({ durationSeconds: 2, fields: { duration: 2 } }),
    ]);
    expect(wrong.map((answer) => [answer.outcome, 'field' in answer ? answer.field : null])).toEqual([
      ['rejected', 'durationSeconds'],
      ['rejected', 'durationSeconds'],
      ['rejected', 'durationSeconds'],
      ['rejected', 'durationSeconds'],
      ['rejected', 'fields.duration'],
    ]);
    expect(wrong[3]).toMatchObject({ allowed: ['2', '4', '8'] });
    expect(await bench.seen()).toEqual([]);
  });

  test("[C2.1.3] resolution and aspect ratio travel as the model's own values", async () => {
    await bench.created({ model: 'cine-1-pro', resolution: '4K', aspectRatio: '21:9' });
    expect(await lastBody()).toMatchObject({ resolution: '4K', aspect_ratio: '21:9' });
    await bench.created({ model: 'motion-omni', resolution: '480p', aspectRatio: '4:3' });
    expect(await lastBody()).toMatchObject({ resolution: '480p', aspect_ratio: '4:3' });
  });

  test('[C2.1.6] what was not given is left out: no null, no default of ours', async () => {
    for (const model of ['cine-1', 'atlas-long', 'motion-omni', 'open-canvas']) {
      await bench.created({ model });
      expect(await lastBody()).toEqual({ model, prompt: 'a lighthouse at dusk' });
    }
    await bench.created({ references: [], fields: {} });
    expect(Object.keys(await lastBody())).toEqual(['model', 'prompt']);
  });

  test('[C4.4b] [C2.2.1] right after the reply the facts are in the answer and in the journal, under the id of the reply', async () => {
    const references = [{ kind: 'image', source: { url: 'https://pictures.example/a.png' } }] as const;
    const answer = await bench.created({ durationSeconds: 4, resolution: '480p', references });
    const facts = {
      taskId: (await bench.seen('create'))[0]?.taskId,
      model: 'cine-1',
      durationSeconds: 4,
      resolution: '480p',
      referenceMode: 'image:1',
      account: bench.account,
    };
    expect(answer.video).toMatchObject(facts);
    const found = await bench.run('media.findVideoTask', { taskId: answer.video.taskId });
    expect(found.video).toMatchObject({ ...facts, source: 'journal' });
    const files = await readdir(join(bench.root, 'journal'), { recursive: true });
    const entries = files.filter((name) => name.endsWith('.entry'));
    const texts = await Promise.all(
      entries.map((name) => readFile(join(bench.root, 'journal', name), 'utf8')),
    );
    const recorded = texts.map((text) => JSON.parse(text) as { answer?: { video?: { taskId: string } } });
    expect(
      recorded.find(({ answer: one }) => one?.video?.taskId === facts.taskId)?.answer?.video,
    ).toMatchObject(facts);
  });
});

describe('references of a create', () => {
  let bench: ContractBench;
  let png: string;
  let mp4: Buffer;
  const url = 'https://pictures.example/a.png';
  const image = (source: VideoReference['source']): VideoReference => ({ kind: 'image', source });

  beforeAll(async () => {
    bench = await openBench();
    png = await bench.input('private-name.png', makePng(5, 3));
    mp4 = await makeMp4(5);
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const lastBody = async () => bodyOf((await bench.seen('create')).at(-1));
  const base64 = makePng(5, 3).toString('base64');

  test.each([
    ['an array of URLs', 'cine-1', { url }, { reference_images: [url] }],
    ['a string as URL', 'sketch-lite', { url }, { image_url: url }],
    ['a string as data URL', 'cine-1-pro', 'file', { input_reference: `data:image/png;base64,${base64}` }],
    ['an array of Base64', 'atlas-long', 'file', { images: [base64] }],
    [
      'an array of data URLs',
      'motion-omni',
      'file',
      { reference_images: [`data:image/png;base64,${base64}`] },
    ],
  ] as const)(
    '[C2.1.4] [C2.1.5] go as %s where the configuration says so',
    async (_form, model, from, wire) => {
      const source = from === 'file' ? { file: png } : from;
      const answer = await bench.created({ model, references: [image(source)] });
      expect(answer.video.referenceMode).toBe('image:1');
      expect(await lastBody()).toEqual({ model, prompt: 'a lighthouse at dusk', ...wire });
    },
  );

  test('[C2.1.4] images, videos and audio of one request each go under their own field', async () => {
    const wav = Buffer.concat([
      Buffer.from('RIFF'),
      Buffer.from([40, 0, 0, 0]),
      Buffer.from('WAVEfmt '),
      Buffer.alloc(28),
    ]);
    const answer = await bench.created({
      model: 'motion-omni',
      references: [
        image({ file: png }),
        { kind: 'video', source: { url: 'https://clips.example/a.mp4' } },
        { kind: 'video', source: { url: 'https://clips.example/b.mp4' } },
        { kind: 'audio', source: { file: await bench.input('sound.wav', wav) } },
      ],
    });
    expect(answer.video.referenceMode).toBe('image:1+video:2+audio:1');
    expect(await lastBody()).toEqual({
      model: 'motion-omni',
      prompt: 'a lighthouse at dusk',
      reference_images: [`data:image/png;base64,${base64}`],
      reference_videos: ['https://clips.example/a.mp4', 'https://clips.example/b.mp4'],
      audio_reference: wav.toString('base64'),
    });
  });

  test('[C2.1.5] a form or kind that the configuration does not have is refused, not guessed', async () => {
    const refused = [
      await bench.create({ model: 'cine-1', references: [image({ file: png })] }),
      await bench.create({ model: 'cine-1', references: [{ kind: 'audio', source: { url } }] }),
      await bench.create({ model: 'open-canvas', references: [image({ url })] }),
      await bench.create({ model: 'sketch-lite', references: [image({ url }), image({ url })] }),
    ];
    expect(refused.map((one) => [one.outcome, 'field' in one ? one.field : null])).toEqual([
      ['rejected', 'references[0].source'],
      ['rejected', 'references[0].kind'],
      ['rejected', 'references[0].kind'],
      ['rejected', 'references'],
    ]);
    expect(await bench.seen()).toEqual([]);
  });

  test('[C2.4.6] a local path never reaches the JSON, whichever field it is put into', async () => {
    const private_ = join(bench.root, 'inputs', 'private-name.png');
    const refused = [
      await bench.create({ references: [image({ url: private_ })] }),
      await bench.create({ references: [image({ url: `file://${private_}` })] }),
      await bench.create({ fields: { camera: private_ } }),
      await bench.create({ model: 'open-canvas', fields: { input: [{ deep: '~/a.png' }] } }),
      await bench.create({ model: 'cine-1-pro', references: [image({ file: '/etc/passwd' })] }),
      await bench.create({
        model: 'cine-1-pro',
        references: [image({ file: join(private_, '..', 'none') })],
      }),
    ];
    expect(refused.map(({ outcome }) => outcome)).toEqual(Array(6).fill('rejected'));
    await bench.created({ model: 'cine-1-pro', references: [image({ file: png })] });
    const [request, ...others] = await bench.seen();
    expect(others).toEqual([]);
    expect(JSON.stringify(request)).not.toContain('private-name');
    expect(JSON.stringify(request)).not.toContain(bench.root);
  });

  test('[C2.1.4] one result is the reference of the next: its bytes go, not its name', async () => {
    const artifact = await bench.store.putBuffer(mp4, { mediaType: 'video/mp4' });
    const answer = await bench.create({
      model: 'motion-omni',
      references: [{ kind: 'video', source: { artifact } }],
    });
    // This model takes videos as URLs, and a folder signs none.
    expect(answer).toMatchObject({ outcome: 'rejected', field: 'references[0].source' });
    const picture = await bench.store.putBuffer(makePng(5, 3), { mediaType: 'image/png' });
    await bench.created({ model: 'atlas-long', references: [image({ artifact: picture })] });
    expect(await lastBody()).toMatchObject({ images: [base64] });
    expect(digest(Buffer.from(base64, 'base64'))).toBe(picture.sha256);
  });
});

describe('models that only the configuration knows', () => {
  const strange = 'image-2 4K/ü veo_sora-pro seconds';
  const models: ModelEntry[] = [
    { id: strange, kind: 'video', durationField: 'duration', durations: [7], fields: ['start_frame'] },
    { id: 'cine-1', kind: 'image', sizes: ['8x8'] },
  ];
  let bench: ContractBench;
  let unconfigured: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ models });
    unconfigured = await openBench({ models: 'none' });
  });
  afterAll(async () => {
    await bench.close();
    await unconfigured.close();
  });

  test('[C0.3] the id goes as it is, and behaviour follows the configuration, not the name', async () => {
    const raw = { start_frame: 'https://pictures.example/f.png' };
    await bench.create({ model: strange, durationSeconds: 7, fields: raw });
    expect(bodyOf((await bench.seen('create'))[0])).toEqual({
      model: strange,
      prompt: 'a lighthouse at dusk',
      duration: 7,
      ...raw,
    });
    expect(await bench.create({ model: 'cine-1' })).toMatchObject({ outcome: 'rejected', field: 'model' });
    expect(await bench.create({ model: 'CINE-1' })).toMatchObject({ outcome: 'rejected', field: 'model' });
    await bench.generate({ model: 'cine-1', size: '8x8' });
    expect(await bench.seen('create')).toHaveLength(1);
    expect(bodyOf((await bench.seen('generate'))[0])).toMatchObject({ model: 'cine-1', size: '8x8' });
  });

  test("[C2.1.5] without an entry a reference goes under the caller's explicit raw field only", async () => {
    const url = 'https://pictures.example/a.png';
    const references: VideoReference[] = [{ kind: 'image', source: { url } }];
    const refused = await unconfigured.create({ model: 'cine-1', references });
    expect(refused).toMatchObject({ outcome: 'rejected', field: 'references', sent: false });
    expect(refused).toHaveProperty('message', expect.stringContaining('MEDIA_MODELS'));
    expect(await unconfigured.seen()).toEqual([]);
    await unconfigured.create({ model: 'cine-1', fields: { reference_images: [url] } });
    expect(bodyOf((await unconfigured.seen())[0])).toEqual({
      model: 'cine-1',
      prompt: 'a lighthouse at dusk',
      reference_images: [url],
    });
  });
});
