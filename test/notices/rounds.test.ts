import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createFileJournal } from '../../src/activities';
import { type CreateJournal } from '../../src/domain/journal';
import { WORKFLOW } from '../../src/domain/names';
import { ConfigurationError } from '../../src/settings/config';
import { answers } from '../domain/create-answers';
import { eventually } from '../support/eventually';
import { answerEntry, intentEntry } from '../support/log-entries';
import { sharedStack } from '../support/shared-stack';
import { collectorOf } from './support/one-round';
import { endNotices } from './support/test-notices';

/** Rounds that meet failures, with a real server and journal. No worker: workflows do only what the tests do with them. */
describe('a round of notices', () => {
  const queues: string[] = [];
  // Before the stack, whose connection it uses.
  afterAll(async () => {
    const { server } = await stack();
    for (const taskQueue of queues) await endNotices({ server, taskQueue });
  });
  const stack = sharedStack({}, async () => undefined);

  async function place() {
    const { server } = await stack();
    const taskQueue = server.uniqueId('rounds');
    queues.push(taskQueue);
    return { namespace: server.namespace, taskQueue };
  }
  async function start(taskQueue: string, type: string, id?: string) {
    const { server } = await stack();
    const workflowId = id ?? server.uniqueId('round');
    return server.client.workflow.start(type, { taskQueue, workflowId, args: [{}] });
  }
  async function journalWith(
    namespace: string,
    keys: readonly string[],
    own: Parameters<typeof intentEntry>[0] = {},
    name?: string,
  ): Promise<CreateJournal> {
    const { dataDir, server } = await stack();
    const journal = createFileJournal({ root: path.join(dataDir, name ?? server.uniqueId('journal')) });
    for (const creationKey of keys) {
      const key = { namespace, creationKey };
      const nonce = `s-${creationKey}`;
      await journal.append(key, 0, intentEntry({ ...key, nonce, ...own }));
      await journal.append(key, 1, answerEntry(answers.unconfirmed(0), { nonce }));
    }
    return journal;
  }
  it('accounts that cannot be read: all of the journal is, and limits of those that were read last', async () => {
    const { server } = await stack();
    const { client } = server;
    const where = await place();
    const keys = Array.from({ length: 230 }, (_, n) => server.uniqueId(`waits-${n}`));
    const filled = await journalWith(where.namespace, keys);
    const spent = [0];
    const journal: CreateJournal = {
      ...filled,
      readRecord: async ({ name }, n) =>
        name.startsWith('spend/studio/USD/') && spent[n] !== undefined
          ? { v: 1, kind: 'spend', nonce: 'n', at: '', spent: spent[n] }
          : filled.readRecord({ namespace: where.namespace, name }, n),
    };
    const spendLimit = { microUnits: 100, currency: 'USD', per: 'month' } as const;
    let accounts = () => [{ credential: 'studio', spendLimit }];
    const { round } = collectorOf(client, where, {
      journal: async () => journal,
      accounts: () => accounts(),
    });
    await round({ journalAt: Infinity });
    accounts = () => {
      throw new ConfigurationError('MEDIA_ACCOUNTS', 'the file is not JSON.');
    };
    spent.push(85);
    const { journal: next } = await round({ journalAt: 0 });
    expect(next).not.toBeNull();
    expect((await round()).journal).toBeNull();
    const query = `TaskQueue = '${where.taskQueue}/notices'`;
    await eventually('all notices', async () => (await client.workflow.count(query)).count >= 231);
    const { journalId } = await journal.identity();
    const month = new Date().toISOString().slice(0, 7);
    const { started } = collectorOf(client, where);
    expect(await started('limit.reached', [journalId, 'studio', 'USD', month, 100, 80])).toMatchObject({
      data: { used: 85 },
    });
  });

  it('a damaged log of the journal: the calls of all others are reported', async () => {
    const { server, dataDir } = await stack();
    const where = await place();
    const keys = Array.from({ length: 5 }, () => server.uniqueId('damaged'));
    const name = server.uniqueId('journal');
    const journal = await journalWith(where.namespace, keys, {}, name);
    const { logs } = await journal.scan(null, 9);
    const damaged = (logs[2]?.[0] as { readonly creationKey: string }).creationKey;
    for (const file of await readdir(path.join(dataDir, name), { recursive: true, withFileTypes: true })) {
      const at = path.join(file.parentPath, file.name);
      if (file.isFile() && (await readFile(at, 'utf8')).includes(`"nonce":"s-${damaged}"`)) {
        await chmod(at, 0o600);
        await writeFile(at, '{');
      }
    }
    await expect(journal.scan(null, 9)).rejects.toThrow();
    const { round, started } = collectorOf(server.client, where, { journal: async () => journal });
    expect((await round()).journal).toBeNull();
    for (const key of keys) {
      const notice = await started('call.unconfirmed', [key, `s-${key}`]);
      expect([key, notice !== undefined]).toEqual([key, key !== damaged]);
    }
  });

  it('rows of a campaign: by the campaign while it is open, and one by one if it cannot report them anymore', async () => {
    const { server } = await stack();
    const { client } = server;
    const where = await place();
    const { namespace } = where;
    // Not that of the collector, which would query them.
    const { taskQueue } = await place();
    const open = await start(taskQueue, WORKFLOW.runCampaign);
    const ended = await start(taskQueue, WORKFLOW.runCampaign);
    await ended.terminate();
    const own = await start(taskQueue, 'publishingCampaign');
    const campaigns = {
      open: open.workflowId,
      ended: ended.workflowId,
      own: own.workflowId,
      gone: server.uniqueId('gone'),
    };
    for (const [name, campaign] of Object.entries(campaigns)) {
      const key = server.uniqueId(`${name}-row`);
      const journal = await journalWith(namespace, [key], { payer: `${campaign}/batch/3` });
      const { round, started } = collectorOf(client, where, { journal: async () => journal });
      await round();
      const notice = await started('call.unconfirmed', [key, `s-${key}`]);
      expect([name, notice !== undefined]).toEqual([name, name !== 'open']);
    }
  });
});
