import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createPageReader } from '../../../src/activities/campaign/open-page';
import { createPlanCampaign, type PlanCampaignDeps } from '../../../src/activities/campaign/plan-campaign';
import { type CampaignPlan, type PlanCampaignInput } from '../../../src/domain/campaign/plan';
import { NO_JOURNAL } from '../../../src/domain/journal';
import { type MediaSource } from '../../../src/domain/request';
import { createMediaClient } from '../../../src/service/create-media-client';
import { type Account, accountRegistry } from '../../../src/settings/accounts';
import { type ModelSource } from '../../../src/settings/model-source';
import { FileArtifactStore } from '../../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { modelSource } from '../../manifest/models';
import { alwaysBound } from '../../support/queue-binding';

const MANIFEST = 'id,model,prompt,duration\na,cine-1,canary-prompt,4\nb,cine-1,y,8\n';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

describe('media.planCampaign', () => {
  let root: string;
  let roots: string;
  let store: FileArtifactStore;
  let account: Account;
  let server: Server;
  let origin: string;
  let answers: Reply[];
  let asked: { readonly authorization: string | undefined }[];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-plan-'));
    roots = join(root, 'inputs');
    await mkdir(roots);
    store = new FileArtifactStore(join(root, 'store'));
    answers = [];
    asked = [];
    server = createServer((request, response) => {
      asked.push({ authorization: request.headers.authorization });
      const { status, body, headers }: Reply = answers.shift() ?? { status: 200, body: MANIFEST };
      response.writeHead(status, headers).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createMediaClient({
      baseUrl: 'https://service.invalid',
      apiKey: () => 'the-key',
      allowedMediaOrigins: [origin],
    });
    account = { name: 'default@00000000', client, hasKey: () => Promise.resolve(true) };
  });
  afterEach(async () => {
    await account.client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(root, { recursive: true, force: true });
  });

  function plan(
    source: MediaSource,
    input: Partial<PlanCampaignInput> = {},
    models: ModelSource = modelSource(),
    environment = new MockActivityEnvironment(),
    journal: PlanCampaignDeps['journal'] = createFileJournal({ root: join(root, 'journal') }),
    checkBinding: PlanCampaignDeps['checkBinding'] = alwaysBound,
  ): Promise<CampaignPlan> {
    const activity = createPlanCampaign({
      checkBinding,
      accounts: accountRegistry([account]),
      artifacts: store,
      models,
      inputRoots: [roots],
      journal,
    });
    const whole: PlanCampaignInput = {
      campaign: 'spring',
      manifest: { source },
      select: { rows: 'missing' },
      onInvalid: 'fail',
      rebuyChanged: false,
      generation: 0,
      ...input,
    };
    return environment.run(() => activity(whole));
  }
  const stored = (text: string) => store.putBuffer(Buffer.from(text), { mediaType: 'text/csv' });

  it('[C5.4c] reads an artifact and answers without a prompt; pages hold it', async () => {
    const result = await plan({ artifact: await stored(MANIFEST) });
    expect(result).toMatchObject({ rows: 2, planned: 2, pages: 1, estimate: 600_000 });
    expect(JSON.stringify(result)).not.toContain('canary');
    const page = await createPageReader(store).page({ index: result.index.sha256, page: 0 });
    expect(page.rows.map(({ key, call }) => [key, call.request.prompt])).toEqual([
      ['a', 'canary-prompt'],
      ['b', 'y'],
    ]);
  });

  it('writes the same bytes under the same names when it is repeated', async () => {
    const artifact = await stored(MANIFEST);
    expect(await plan({ artifact })).toEqual(await plan({ artifact }));
  });

  it('reads a file below the input roots, and none that only seems to be there', async () => {
    await writeFile(join(roots, 'm.csv'), MANIFEST);
    expect(await plan({ file: join(roots, 'm.csv') })).toMatchObject({ planned: 2 });
    await writeFile(join(root, 'outside.csv'), MANIFEST);
    await symlink(join(root, 'outside.csv'), join(roots, 'link.csv'));
    for (const file of [join(root, 'outside.csv'), join(roots, 'link.csv'), join(roots, 'none.csv'), roots]) {
      const result = await plan({ file });
      expect(result.refused?.reason).toBe('manifest_unreadable');
      expect(JSON.stringify(result)).not.toContain(root);
    }
  });

  it('takes files of rows into the store, so that their content and not their place is the row', async () => {
    await writeFile(join(roots, 'one.png'), PNG);
    await writeFile(join(roots, 'two.png'), PNG);
    const row = (name: string) =>
      JSON.stringify({ model: 'image-2', prompt: 'x', operation: 'edit', images: `file:${name}` });
    const result = await plan({ artifact: await stored(`${row('one.png')}\n${row('two.png')}\n`) });
    const { rows } = await createPageReader(store).page({ index: result.index.sha256, page: 0 });
    expect(rows[0]?.content).toBe(rows[1]?.content);
    expect(rows[0]?.call.request).toMatchObject({
      images: [{ artifact: { mediaType: 'image/png', bytes: PNG.length } }],
    });
    expect(JSON.stringify(rows)).not.toContain('one.png');
    const missing = await plan({ artifact: await stored(`${row('secret.png')}\n`) });
    expect(missing.issues).toMatchObject([{ line: 1, column: 'images' }]);
    expect(JSON.stringify(missing)).not.toContain('secret');
  });

  it('refuses a file for a model that takes URLs before any row is paid, where the store gives the service none', async () => {
    const { sha256 } = await store.putBuffer(PNG, { mediaType: 'image/png' });
    const rows = ['a', 'b'].map((id) => `${id},cine-1,x,4,artifact:sha256/${sha256}\n`).join('');
    const artifact = await stored(`id,model,prompt,duration,image_reference\n${rows}c,cine-1,y,8,\n`);
    const planned = () => plan({ artifact }, { onInvalid: 'fail' });
    const signing = (presign: () => Promise<string>) => Object.assign(store, { presign: jest.fn(presign) });

    const none = await planned();
    expect([none.planned, none.issues.map(({ line, column }) => [line, column])]).toEqual([
      0,
      [
        [2, 'image_reference'],
        [3, 'image_reference'],
      ],
    ]);
    expect(none.issues[0]?.message).toContain('MEDIA_ARTIFACTS');
    signing(async () => `${origin}/picture?signature=secret`);
    const near = await planned();
    expect([near.planned, near.issues[0]?.message]).toEqual([
      0,
      expect.stringContaining('AWS_ENDPOINT_URL_S3'),
    ]);
    expect(JSON.stringify(near)).not.toContain('secret');
    const { presign } = signing(async () => 'https://bucket.example.com/picture?signature=secret');
    expect(await planned()).toMatchObject({ planned: 3, invalid: 0 });
    expect(presign).toHaveBeenCalledTimes(1);
  });

  it('[C5.3] fetches an address once, without the key', async () => {
    const result = await plan({ url: `${origin}/m.csv?token=secret` }, { sample: 1 });
    expect(result).toMatchObject({ rows: 2, planned: 1, left: 1 });
    expect(asked).toEqual([{ authorization: undefined }]);
  });

  it('says what another try will not change, without the address', async () => {
    answers = [
      { status: 404, body: '' },
      { status: 200, body: MANIFEST, headers: { 'content-encoding': 'gzip' } },
    ];
    const sources = [
      { url: `${origin}/secret` },
      { url: `${origin}/secret` },
      { url: 'http://10.0.0.1/secret' },
      { url: 'ftp://host.invalid/secret' },
      { url: 'secret' },
      {
        artifact: {
          uri: `artifact:sha256/${'a'.repeat(64)}`,
          mediaType: 'text/csv',
          bytes: 1,
          sha256: 'a'.repeat(64),
        },
      },
    ];
    for (const source of sources) {
      const result = await plan(source);
      expect(result).toMatchObject({ planned: 0, pages: 0, refused: { reason: 'manifest_unreadable' } });
      expect(JSON.stringify(result)).not.toMatch(/secret|127\.0\.0\.1|10\.0\.0\.1/);
    }
  });

  it.each([429, 500, 503])('[C8.7] comes back later after HTTP %s, not before it may', async (status) => {
    answers = [{ status, body: '', headers: { 'retry-after': '7' } }];
    await expect(plan({ url: `${origin}/secret` })).rejects.toMatchObject({
      type: 'MediaRetryLater',
      nonRetryable: false,
      nextRetryDelay: 7_000,
    });
  });

  it('comes back later while the model configuration is down', async () => {
    const models = {
      ...modelSource(),
      lookup: () => Promise.resolve({ found: 'unavailable' as const, message: 'down', retryAfterMs: 5_000 }),
    };
    const artifact = await stored(MANIFEST);
    await expect(plan({ artifact }, {}, models)).rejects.toMatchObject({
      type: 'MediaRetryLater',
      nextRetryDelay: 5_000,
    });
  });

  it('refuses a credential that this worker lacks: of the campaign as a whole, of a row by its line', async () => {
    const artifact = await stored(MANIFEST);
    expect((await plan({ artifact }, { account: 'other' })).refused?.reason).toBe('account_not_configured');
    const rows = await stored('model,prompt,account\ncine-1,x,default\ncine-1,y,other\n');
    expect((await plan({ artifact: rows })).issues).toMatchObject([{ line: 3, column: 'account' }]);
  });

  it('comes back later for a credential that another worker may have, while nobody can say whether one has', async () => {
    const ref = await store.putBuffer(
      Buffer.from('id,model,prompt,duration,account\na,cine-1,x,4,studio-b\n'),
      { mediaType: 'text/csv' },
    );
    const unbound: PlanCampaignDeps['checkBinding'] = async () => ({ bound: false, message: 'away' });
    const planned = plan({ artifact: ref }, {}, undefined, undefined, undefined, unbound);
    await expect(planned).rejects.toMatchObject({
      nonRetryable: false,
      details: [{ class: 'journal_not_bound' }],
    });
  });

  it('[C1.5] takes no price from its own models for an account of another worker, and names the account', async () => {
    const artifact = await stored(
      'id,model,prompt,duration,account\na,cine-1,x,4,default\nb,cine-1,y,4,studio-b\nc,only-there,z,99,studio-b\n',
    );
    const shared: PlanCampaignDeps['checkBinding'] = async () => ({
      ...(await alwaysBound()),
      accounts: ['default@00000000', 'studio-b@11111111'],
    });
    const planned = (input: Partial<PlanCampaignInput>) =>
      plan({ artifact }, input, undefined, undefined, undefined, shared);
    const result = await planned({});
    expect(result).toMatchObject({ planned: 3, invalid: 0, unpriced: 2, estimate: 200_000 });
    expect(result.issues).toMatchObject([{ line: 3, column: 'account' }]);
    expect(result.issues[0]?.message).toContain('"studio-b"');
    const page = await createPageReader(store).page({ index: result.index.sha256, page: 0 });
    expect(page.rows.map(({ estimate }) => estimate)).toEqual([200_000, null, null]);
    const refused = await planned({ budget: { microUnits: 9_000_000, currency: 'USD' } });
    expect(refused).toMatchObject({ planned: 0, refused: { reason: 'unpriced_models' } });
    expect(refused.refused?.message).toContain('studio-b');
  });

  it('[C4.4a] refuses every campaign of a worker without a journal', async () => {
    const artifact = await stored(MANIFEST);
    const result = await plan({ artifact }, {}, modelSource(), new MockActivityEnvironment(), NO_JOURNAL);
    expect(result).toMatchObject({ planned: 0, pages: 0, refused: { reason: 'no_journal' } });
  });

  it('beats with counts, and ends where it is cancelled', async () => {
    const beats: unknown[] = [];
    const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 20 });
    environment.on('heartbeat', (details: unknown) => beats.push(details));
    const lines = Array.from({ length: 20_000 }, (_, index) => `r${index},cine-1,canary,4\n`);
    const artifact = await stored(`id,model,prompt,duration\n${lines.join('')}`);
    environment.once('heartbeat', () => environment.cancel('WORKER_SHUTDOWN'));
    const planning = plan({ artifact }, {}, modelSource(), environment);
    await expect(planning).rejects.toMatchObject({ name: 'CancelledFailure' });
    expect(beats[0]).toEqual({ results: 0, rows: expect.any(Number) as unknown });
    expect(JSON.stringify(beats)).not.toContain('canary');
  });
});
