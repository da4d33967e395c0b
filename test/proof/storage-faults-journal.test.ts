import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideo } from '../../src/activities/create-video';
import { RefusalGate } from '../../src/activities/refusal-gate';
import { accountRegistry } from '../../src/settings/accounts';
import { createModelSource } from '../../src/settings/model-source';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { clientOf } from '../service/client-under-test';
import { json, loopback } from '../service/loopback-service';
import { proved } from '../support/proof';
import { alwaysBound } from '../support/queue-binding';
import { filesIn } from './storage-faults/files-in';
import { mountSmallDisk, type SmallDisk } from './storage-faults/small-disk';

const counts = { disks: 0, unsent: 0, sent: 0, lostAnswers: 0, twice: 0 };
let folder: string;
let disk: SmallDisk | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'storage-faults-journal-'));
});
beforeEach(() => {
  disk = mountSmallDisk('size=512k');
  if (disk !== undefined) counts.disks += 1;
});
afterEach(() => disk?.remove());
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  proved('storage-faults-journal', {
    'small file systems mounted': counts.disks,
    'creates while the journal could not be written': counts.unsent,
    'of them sent': counts.sent,
    'creates whose outcome could not be written': counts.lostAnswers,
    'of them sent twice': counts.twice,
  });
});

describe('the journal', () => {
  async function bench(journalRoot: string, onCreate: () => Promise<void> = async () => undefined) {
    let connections = 0;
    const service = await loopback((_request, response) => {
      void onCreate().then(() => json(response, 200, { id: `task-${(connections += 1)}`, status: 'queued' }));
    });
    const client = clientOf(service.origin);
    const models = join(folder, 'models.json');
    await writeFile(models, JSON.stringify({ version: 1, models: [{ id: 'video-1', kind: 'video' }] }));
    const activity = createCreateVideo({
      accounts: accountRegistry([{ name: 'default@00000000', client, hasKey: async () => true }]),
      artifacts: new FileArtifactStore(join(folder, 'artifacts')),
      models: createModelSource({ location: models }),
      journal: createFileJournal({ root: journalRoot }),
      checkBinding: alwaysBound,
      policy: undefined,
      gate: new RefusalGate(),
      inputRoots: [],
    });
    const create = () =>
      new MockActivityEnvironment({ startToCloseTimeoutMs: 70_000 }).run(activity, {
        creationKey: 'order-1',
        request: { model: 'video-1', prompt: 'p' },
      });
    const close = () => Promise.all([client.close(), service.close()]);
    return { service, create, close };
  }

  it.each(['full', 'without room for a name', 'read-only', 'no folder'])(
    '[C4.4a] that is %s before the send: nothing is sent, and the create goes on once that is over',
    async (how) => {
      if (how === 'without room for a name') {
        disk?.remove();
        disk = mountSmallDisk('size=512k,nr_inodes=2');
      }
      const small = disk;
      if (small === undefined) return;
      const root = join(small.path, 'journal');
      if (how === 'full') await small.fill();
      if (how === 'read-only') small.readOnly(true);
      if (how === 'no folder') await writeFile(root, 'a file where the folder should be');
      const { service, create, close } = await bench(root);
      expect(await create()).toMatchObject({
        outcome: 'not_sent',
        cause: 'journal_unavailable',
        permanent: false,
        sendAttemptUsed: false,
        sent: false,
      });
      counts.unsent += 1;
      counts.sent += service.seen.length;
      expect(service.seen).toHaveLength(0);
      if (how === 'without room for a name') return void (await close());
      await small.free();
      small.readOnly(false);
      if (how === 'no folder') await rm(root);
      expect(await create()).toMatchObject({ outcome: 'created', video: { taskId: 'task-1' } });
      expect(service.seen).toHaveLength(1);
      await close();
    },
  );

  it.each(['full', 'read-only'])(
    '[C4.4a] [C4.4c] that becomes %s while the service answers: the id is told, and nobody sends again',
    async (how) => {
      if (disk === undefined) return;
      const small = disk;
      const root = join(small.path, 'journal');
      await mkdir(root);
      const { service, create, close } = await bench(root, async () => {
        if (how === 'full') await small.fill();
        else small.readOnly(true);
      });
      expect(await create()).toMatchObject({ outcome: 'created', video: { taskId: 'task-1' } });
      small.readOnly(false);
      await small.free();
      // The intent stands and no answer: whoever comes later has to look, never to send.
      expect(await create()).toMatchObject({ outcome: 'pending' });
      counts.lostAnswers += 1;
      counts.twice += service.seen.length - 1;
      expect(service.seen).toHaveLength(1);
      expect((await filesIn(root)).filter((name) => name.endsWith('.entry'))).toHaveLength(1);
      for (const name of await filesIn(root)) expect((await stat(name)).size).toBeGreaterThan(0);
      await close();
    },
  );
});
