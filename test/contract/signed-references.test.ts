import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ArtifactRef } from '../../src/domain/request';
import { makePng } from '../stores/artifacts/make-media';
import { type ContractBench, digest, openBench } from './contract-bench';

const PIXELS = makePng(13, 7);
/** Of a model that takes images as URLs only. */
const MODEL = 'cine-1';

/** A store of files whose artifacts can be fetched from signed addresses, each with a secret of its own. */
class SigningServer {
  /** The secrets of all addresses so far: one in the path, one in the query. */
  readonly secrets: string[] = [];
  readonly validity: number[] = [];
  #server: Server | undefined;

  constructor(private readonly bench: ContractBench) {}

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const [, , sha256 = ''] = (request.url ?? '').split(/[/?]/);
      this.bench.store.read({ sha256 }).then(
        (bytes) => bytes.pipe(response),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    const presign = async (
      ref: { readonly sha256: string },
      { expiresMs }: { readonly expiresMs: number },
    ) => {
      const [inPath, inQuery] = [randomUUID(), randomUUID()];
      this.secrets.push(inPath, inQuery);
      this.validity.push(expiresMs);
      return `http://127.0.0.1:${port}/${inPath}/${ref.sha256}?X-Amz-Signature=${inQuery}`;
    };
    Object.assign(this.bench.store, { presign });
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}

describe('a reference in the store, for a model that takes URLs', () => {
  let bench: ContractBench;
  let signing: SigningServer;
  let artifact: ArtifactRef;

  beforeAll(async () => {
    bench = await openBench();
    signing = new SigningServer(bench);
    await signing.start();
    artifact = await bench.store.putBuffer(PIXELS, { mediaType: 'image/png' });
  });
  afterEach(() => bench.reset());
  afterAll(async () => {
    await signing.stop();
    await bench.close();
  });

  const request = () =>
    ({ model: MODEL, durationSeconds: 4, references: [{ kind: 'image', source: { artifact } }] }) as const;

  /** Everything that outlives the send: what was returned, heartbeated, logged and thrown, and the journal. */
  async function kept(...answers: readonly unknown[]): Promise<string> {
    const files = await readdir(join(bench.root, 'journal'), { recursive: true, withFileTypes: true });
    const texts = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
    );
    return JSON.stringify([answers, bench.diagnostics, files.map(({ name }) => name), texts]);
  }

  async function expectSecret(...answers: readonly unknown[]): Promise<void> {
    const text = await kept(...answers);
    expect(signing.secrets.length).toBeGreaterThan(0);
    for (const secret of signing.secrets) expect(text).not.toContain(secret);
  }

  test('[C2.1.4] [C5.4b] the service gets an address of the very bytes, and nothing that is kept has it', async () => {
    const answer = await bench.create(request());
    const file = await bench.create({
      ...request(),
      references: [{ kind: 'image', source: { file: await bench.input('picture.png', PIXELS) } }],
    });
    expect([answer.outcome, file.outcome]).toEqual(['created', 'created']);
    const seen = await bench.seen('create');
    expect(seen).toHaveLength(2);
    for (const { json } of seen) {
      const [url = ''] = (json as { readonly reference_images: readonly string[] }).reference_images;
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
      expect(digest(bytes)).toBe(artifact.sha256);
    }
    await expectSecret(answer, file);
  });

  test('[C5.4b] a refusal that repeats it does not bring it back', async () => {
    const before = signing.secrets.length;
    const seenUrl = async () => (await bench.seen('create')).at(-1)?.json as { reference_images: string[] };
    await bench.created(request());
    const [url = ''] = (await seenUrl()).reference_images;
    expect(signing.secrets.length).toBe(before + 2);
    const message = `Could not fetch ${url}, which is ${encodeURIComponent(url)}`;
    for (const status of [400, 500]) {
      await bench.fault('create', { type: 'status', status, body: { error: { message, code: url } } });
      await expectSecret(await bench.create(request()));
    }
  });

  test('the same request has the same fingerprint and body hash at each signature', async () => {
    const id = { creationKey: randomUUID() };
    const first = await bench.create(request(), id);
    expect(await bench.create(request(), id)).toEqual({ ...first, sent: false });
    expect(await bench.seen('create')).toHaveLength(1);

    await bench.fault('create', { type: 'lose_reply', accepted: true, how: 'reset' });
    const lost = await bench.create(request());
    expect(lost.outcome).toBe('unconfirmed');
    const again = await bench.create(request(), { refuseWhileUnconfirmed: true });
    expect(again).toMatchObject({ outcome: 'rejected', sent: false });
    expect(await bench.seen('create')).toHaveLength(2);
  });

  test('it is never sent again under one idempotency key: its body would be another one', async () => {
    const honoured = { header: 'Idempotency-Key', honoured: true, windowSeconds: 900 } as const;
    const policy = { idempotency: honoured };
    const lose = () => bench.fault('create', { type: 'lose_reply', accepted: true, how: 'reset' });
    await lose();
    const signed = await bench.create(request(), { policy });
    await lose();
    const plain = await bench.create({ model: MODEL, durationSeconds: 4 }, { policy });
    expect([signed.outcome, plain.outcome]).toEqual(['unconfirmed', 'unconfirmed']);
    expect('sameKeyUntil' in signed && signed.sameKeyUntil).toBeFalsy();
    expect(plain).toHaveProperty('sameKeyUntil');
  });

  test('it is valid for an hour, or for four times the usual time of a slow model', async () => {
    const reference = { kind: 'image', field: 'refs', shape: 'array', form: 'url' } as const;
    const models = [
      { id: 'quick', polling: { minSeconds: 3, maxSeconds: 5, typicalSeconds: 60 } },
      { id: 'slow', polling: { minSeconds: 3, maxSeconds: 5, typicalSeconds: 1_800 } },
      { id: 'configured', validSeconds: 300 },
    ].map(({ id, polling, validSeconds }) => ({
      id,
      kind: 'video' as const,
      references: [{ ...reference, ...(validSeconds !== undefined && { validSeconds }) }],
      ...(polling !== undefined && { polling: polling as never }),
    }));
    const own = await openBench({ models });
    const server = new SigningServer(own);
    await server.start();
    try {
      const ref = await own.store.putBuffer(PIXELS, { mediaType: 'image/png' });
      for (const { id } of models)
        await own.create({ model: id, references: [{ kind: 'image', source: { artifact: ref } }] });
      expect(server.validity).toEqual([3_600_000, 7_200_000, 300_000]);
    } finally {
      await server.stop();
      await own.close();
    }
  });

  test('where the service cannot reach the store, it is refused with the variable, and nothing is sent', async () => {
    const own = await openBench({ client: (client) => ({ ...client, baseUrl: 'https://api.example.com' }) });
    const server = new SigningServer(own);
    await server.start();
    try {
      const ref = await own.store.putBuffer(PIXELS, { mediaType: 'image/png' });
      const answer = await own.create({
        ...request(),
        references: [{ kind: 'image', source: { artifact: ref } }],
      });
      expect(answer).toMatchObject({
        outcome: 'rejected',
        reason: 'invalid_request',
        field: 'references[0].source',
        sent: false,
        message: expect.stringContaining('AWS_ENDPOINT_URL_S3') as unknown,
      });
      expect(await own.seen('create')).toEqual([]);
    } finally {
      await server.stop();
      await own.close();
    }
  });

  test('a store that signs nothing is named, and one that lacks the bytes leaves the call to another worker', async () => {
    const plain = await openBench();
    try {
      const ref = await plain.store.putBuffer(PIXELS, { mediaType: 'image/png' });
      const references = [{ kind: 'image', source: { artifact: ref } }] as const;
      expect(await plain.create({ ...request(), references })).toMatchObject({
        outcome: 'rejected',
        reason: 'invalid_request',
        message: expect.stringContaining('MEDIA_ARTIFACTS') as unknown,
      });
      await plain.store.remove(ref.sha256);
      expect(await plain.create({ ...request(), references })).toMatchObject({
        outcome: 'not_sent',
        cause: 'artifact_missing',
      });
      expect(await plain.seen('create')).toEqual([]);
    } finally {
      await plain.close();
    }
  });
});
