import { utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from '@temporalio/client';
import { WorkflowTexts } from '../../packages/cli/src/artifacts/referenced-texts';
import { type ArtifactRef } from '../../src/domain/request';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { newEncryption } from '../support/encryption';
import { eventually } from '../support/eventually';
import { intentEntry } from '../support/log-entries';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';
import { startCodecServer } from './support/codec-server';
import { runJson } from './support/run-cli';

const DAY_MS = 86_400_000;
/** The retention of the namespace. */
const LEAST = ['--older-than', '1d'];
const AUTH = 'Bearer of-the-codec-server';

/** Whatever an open workflow, a campaign or the journal names is kept; a name that is overlooked is a lost result. */
describe('artifacts prune', () => {
  let stack: MediaStack;
  let store: FileArtifactStore;
  let env: Record<string, string>;
  let folder: string;
  const out = (): string => path.join(stack.dataDir, 'out');

  beforeAll(async () => {
    stack = await startMediaStack({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 300 } },
    });
    env = stack.env;
    folder = stack.config.artifacts;
    store = new FileArtifactStore(folder);
    await stack.startWorker();
  });
  afterAll(() => stack.stop());

  const put = (text: string): Promise<ArtifactRef> =>
    store.putBuffer(Buffer.from(text), { mediaType: 'application/json' });
  const stored = async (): Promise<string[]> =>
    (await store.list(null, 1_000)).map(({ sha256 }) => sha256).sort();
  const prune = (...more: string[]) => runJson(['artifacts', 'prune', ...LEAST, ...more], env);

  /** As if all were stored five days ago. */
  async function makeOld(days = 5): Promise<void> {
    const then = new Date(Date.now() - days * DAY_MS);
    for (const sha256 of await stored())
      await utimes(path.join(folder, 'sha256', sha256.slice(0, 2), sha256), then, then);
  }

  /** A workflow of a user, which nobody runs. */
  function open(args: unknown[], options: { memo?: Record<string, unknown>; client?: Client } = {}) {
    const { client = stack.server.client, memo } = options;
    return client.workflow.start('aPipelineOfTheUser', {
      taskQueue: stack.server.uniqueId('nobody'),
      workflowId: stack.server.uniqueId('pipeline'),
      args,
      ...(memo && { memo }),
    });
  }

  it('removes what nobody names, and nothing else', async () => {
    const run = async (...args: string[]) => {
      const ended = await runJson([...args, '--out', out()], env);
      expect([ended.code, ended.reply.error]).toEqual([0, undefined]);
      return ended.reply.data ?? {};
    };
    const id = stack.server.uniqueId('film');
    await run('video', '--model', 'sketch-lite', '--prompt', 'a boat', '--id', id);
    const { artifact: video } = (await stack.server.client.workflow.getHandle(id).result()) as {
      video: unknown;
      artifact: ArtifactRef;
    };
    const imageId = stack.server.uniqueId('map');
    await run(
      'image',
      '--model',
      'image-2',
      '--prompt',
      'a map',
      '--size',
      '512x512',
      '--id',
      imageId,
      '--as',
      'workflow',
    );
    const { images } = (await stack.server.client.workflow.getHandle(imageId).result()) as {
      images: readonly ArtifactRef[];
    };
    const campaign = stack.server.uniqueId('rows');
    const manifest = path.join(stack.dataDir, 'rows.csv');
    await writeFile(manifest, 'id,prompt,model\na,a row,sketch-lite\nb,another row,sketch-lite\n');
    const beforeCampaign = new Set(await stored());
    await run('campaign', 'run', manifest, '--id', campaign);
    const rows = (await stored()).filter((sha256) => !beforeCampaign.has(sha256));
    expect(rows.length).toBeGreaterThan(3);

    const [input, clip, loose, planned] = (await Promise.all(
      ['an input', 'a clip', 'nobody names me', 'of a schedule'].map(put),
    )) as [ArtifactRef, ArtifactRef, ArtifactRef, ArtifactRef];
    // Larger than a piece of a stream.
    const filler = 'x'.repeat(65_521);
    const page = await put(`${filler}\n{"result":"${clip.sha256}"}\n`);
    const index = await put(JSON.stringify({ pages: [{ sha256: page.sha256, rows: 1 }] }));
    const pipeline = await open([{ deep: [input] }], { memo: { index: index.uri } });
    const schedule = await stack.server.client.schedule.create({
      scheduleId: stack.server.uniqueId('nightly'),
      spec: {},
      action: { type: 'startWorkflow', workflowType: 'aReport', taskQueue: 'nobody', args: [planned.uri] },
    });
    // A namespace that the server does not have any more has no workflows.
    const elsewhere = { namespace: 'long-gone', creationKey: 'order-1' };
    await createFileJournal({ root: stack.config.journal }).append(elsewhere, 0, intentEntry(elsewhere));
    await makeOld();
    const young = await put('stored today');
    const all = await stored();

    const dry = await prune('--dry-run');
    expect([dry.code, dry.reply.error]).toEqual([0, undefined]);
    expect(dry.reply.data).toMatchObject({ dryRun: true, artifacts: all.length, keptYoung: 1 });
    expect(await stored()).toEqual(all);
    const pruned = await prune();
    const of = (refs: readonly ArtifactRef[]) => refs.map(({ sha256 }) => sha256);
    const left = new Set(await stored());
    const gone = (names: { readonly [why: string]: readonly string[] }) =>
      Object.keys(names).filter((why) => !names[why]!.some((sha256) => left.has(sha256)));
    const chain = { input: of([input]), index: of([index]), page: of([page]), clip: of([clip]) };
    const settled = { image: of(images), young: of([young]) };
    expect(gone({ ...chain, ...settled, planned: of([planned]) })).toEqual([]);
    expect(rows.filter((sha256) => !left.has(sha256))).toEqual([]);
    expect(gone({ video: of([video]), loose: of([loose]) })).toEqual(['video', 'loose']);
    expect(pruned.reply.data?.['removed']).toBe(all.length - left.size);
    expect((await runJson(['campaign', 'report', campaign, '--out', out()], env)).code).toBe(0);

    await Promise.all([pipeline.terminate(), schedule.delete()]);
    await eventually('the end of the workflow in lists', async () => {
      await prune();
      return !(await stored()).includes(clip.sha256);
    });
    left.clear();
    for (const sha256 of await stored()) left.add(sha256);
    expect(gone({ ...chain, planned: of([planned]) })).toEqual([...Object.keys(chain), 'planned']);
    expect(gone(settled)).toEqual([]);
    expect(rows.filter((sha256) => !left.has(sha256))).toEqual([]);
  });

  it('takes for young what was stored again', async () => {
    const again = await put('the same input each week');
    await makeOld();
    await put('the same input each week');
    expect((await prune()).code).toBe(0);
    expect(await stored()).toContain(again.sha256);
  });

  it('removes nothing while a payload cannot be read, and finds names in what a codec decodes', async () => {
    const hidden = await put('hidden');
    const encryption = newEncryption();
    const { connection, namespace } = stack.server.client.options;
    const client = new Client({
      connection: connection!,
      namespace,
      dataConverter: { payloadCodecs: [encryption] },
    });
    const codec = await startCodecServer(encryption, namespace, AUTH);
    const pipeline = await open([hidden], { client });
    await makeOld();
    try {
      const all = await stored();
      const refused = await prune();
      expect([refused.code, refused.reply.error?.type]).toEqual([69, 'payload_unreadable']);
      expect(refused.reply.error?.message).toContain(pipeline.workflowId);
      expect(refused.reply.error?.hint).toContain('TEMPORAL_CODEC_ENDPOINT');
      expect(await stored()).toEqual(all);
      const codecEnv = {
        TEMPORAL_CODEC_ENDPOINT: `${codec.origin}/{namespace}`,
        TEMPORAL_CODEC_AUTH: AUTH,
      };
      expect((await runJson(['artifacts', 'prune', ...LEAST], { ...env, ...codecEnv })).code).toBe(0);
      expect(await stored()).toContain(hidden.sha256);
    } finally {
      await pipeline.terminate();
      await codec.close();
    }
  });

  it.each([
    ['an age below the retention of the namespace', ['--older-than', '23h'], {}, 'rejected/invalid_request'],
    ['no journal', [], { MEDIA_JOURNAL: 'none' }, 'journal_unusable'],
    [
      'a journal that another queue of this store does not have',
      [],
      { MEDIA_JOURNAL: 'other' },
      'journal_binding',
    ],
    ['a store that the queue does not have', [], { MEDIA_ARTIFACTS: 'other-store' }, 'other_artifact_store'],
  ])('refuses %s', async (_, args, places, type) => {
    await put('nobody names me either');
    await makeOld();
    await createFileJournal({ root: path.join(stack.dataDir, 'other') }).identity();
    const all = await stored();
    const own = Object.fromEntries(
      Object.entries(places).map(([name, place]) => [name, path.join(stack.dataDir, place)] as const),
    );
    const refused = await runJson(['artifacts', 'prune', ...LEAST, ...args], {
      ...env,
      ...own,
    });
    expect(refused.reply.error?.type).toBe(type);
    expect(`${refused.reply.error?.message} ${refused.reply.error?.hint}`).toContain('Nothing was removed.');
    expect(await stored()).toEqual(all);
  });

  it('refuses a journal with a record that cannot be read', async () => {
    const journal = createFileJournal({ root: stack.config.journal });
    const key = { namespace: stack.server.namespace, creationKey: 'damaged' };
    await journal.append(key, 0, intentEntry({ ...key, sendWindowEnd: 'never' }));
    const all = await stored();
    const refused = await prune();
    expect([refused.code, refused.reply.error?.type]).toEqual([73, 'journal_unusable']);
    expect(await stored()).toEqual(all);
  });

  it('an open workflow is read again: it may be told of an artifact while the rest is read', async () => {
    const { client, namespace } = stack.server;
    const handle = await open([]);
    let seen = '';
    const texts = new WorkflowTexts(client, namespace, (text) => void (seen += text));
    await texts.read();
    const name = 'd'.repeat(64);
    expect(seen).not.toContain(name);
    await handle.signal('use', name);
    await texts.read();
    expect(seen).toContain(name);
    await handle.terminate();
  });
});
