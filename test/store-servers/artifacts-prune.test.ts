import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pruneArtifacts } from '../../packages/cli/src/artifacts/prune';
import { type Connected } from '../../packages/cli/src/shared/connect';
import { type CommandContext } from '../../packages/cli/src/shared/context';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { readConfig } from '../../src/settings/config';
import { openArtifactStore, openJournal } from '../../src/stores/open-stores';
import { answerEntry, intentEntry } from '../support/log-entries';
import { connectTestServer, type TestServer } from '../support/temporal';
import { describeWithS3, newBucket } from './support/s3';

const DAY_MS = 86_400_000;

describeWithS3()('artifacts prune on a bucket', () => {
  let server: S3Server;
  let temporal: TestServer;
  let dir: string;
  let before: NodeJS.ProcessEnv;

  beforeAll(async () => {
    server = await startS3();
    temporal = await connectTestServer();
    before = process.env;
    process.env = { ...process.env, ...server.env };
  });
  afterAll(async () => {
    process.env = before;
    await temporal?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'prune-s3-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('removes old objects that a journal in the same bucket does not name', async () => {
    const bucket = await newBucket(server);
    const config = readConfig({
      MEDIA_DATA_DIR: dir,
      MEDIA_ARTIFACTS: `s3://${bucket}/files`,
      MEDIA_JOURNAL: `s3://${bucket}/journal`,
    });
    const store = await openArtifactStore(config);
    const put = (text: string) => store.putBuffer(Buffer.from(text), { mediaType: 'image/png' });
    const [image, loose] = await Promise.all([put('an image'), put('nobody names me')]);
    const young = await put('stored today');
    const old = new Date(Date.now() - 100 * DAY_MS);
    for (const { sha256 } of [image, loose]) {
      // The server keeps an object as a file.
      await utimes(join(server.dir, 'buckets', bucket, 'files', sha256.slice(0, 2), sha256), old, old);
    }
    const journal = await openJournal(config);
    await journal.identity();
    const { client, namespace } = temporal;
    // A workflow with this id that the server has forgotten.
    const key = { namespace, creationKey: temporal.uniqueId('map') };
    await journal.append(key, 0, intentEntry(key));
    const paid = { sendAttempt: 0, sent: true, account: 'default@00000000', estimate: null } as const;
    const answer = { ...paid, outcome: 'completed', images: [image], created: null, warnings: [] } as const;
    await journal.append(key, 1, answerEntry(answer, { at: old.toISOString() }));
    for (const text of ['refused long ago', 'refused today']) {
      const part = await store.stage(text, { fresh: true });
      await part.write(Buffer.from(text));
      const { sha256 } = await part.reject();
      const file = join(server.dir, 'buckets', bucket, 'files', 'rejected', `${sha256}.rejected`);
      if (text.endsWith('ago')) await utimes(file, old, old);
    }
    const replies: unknown[] = [];
    const report = { say: () => undefined, reply: (reply: unknown) => replies.push(reply) };
    const connected = { client, namespace, taskQueue: temporal.uniqueId('prune') } as unknown as Connected;
    await pruneArtifacts({ report } as unknown as CommandContext, connected, config, 90 * DAY_MS, false);
    const counts = { artifacts: 3, removed: 1, removedBytes: loose.bytes, keptNamed: 1, keptYoung: 1 };
    const rejected = { removedRejected: 1, removedRejectedBytes: 'refused long ago'.length };
    expect(replies).toEqual([{ ok: true, data: { dryRun: false, ...counts, ...rejected } }]);
    const left = (await store.list(null, 10)).map(({ sha256 }) => sha256);
    expect(left).toEqual([image.sha256, young.sha256].sort());
  });
});
