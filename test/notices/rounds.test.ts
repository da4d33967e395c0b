import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from '@temporalio/client';
import { type PayloadCodec } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { type CollectRound } from '../../packages/notices/src/collect-round';
import { findEnded, type Left } from '../../packages/notices/src/ended-calls';
import { createFileJournal } from '../../src/activities';
import { type CreateJournal, NO_JOURNAL } from '../../src/domain/journal';
import { WORKFLOW } from '../../src/domain/names';
import { ConfigurationError } from '../../src/settings/config';
import { answers } from '../domain/create-answers';
import { eventually } from '../support/eventually';
import { answerEntry, intentEntry } from '../support/log-entries';
import { sharedStack } from '../support/shared-stack';
import { collectorOf } from './support/one-round';
import { endNotices } from './support/test-notices';

const MINUTE = 60_000;
/** `COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION` of the Temporal API. */
const COMPLETE_WORKFLOW_EXECUTION = 4;

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
  async function terminated(taskQueue: string) {
    const handle = await start(taskQueue, WORKFLOW.generateVideo);
    await handle.terminate();
    return [handle.workflowId, handle.firstExecutionRunId] as const;
  }
  /** Ends a call with a result, as its worker would. */
  async function completed(taskQueue: string, result: unknown) {
    const { server } = await stack();
    const { namespace, client } = server;
    const handle = await start(taskQueue, WORKFLOW.generateVideo);
    const { workflowService } = client;
    const { taskToken } = await client.withDeadline(Date.now() + MINUTE, () =>
      workflowService.pollWorkflowTaskQueue({
        namespace,
        taskQueue: { name: taskQueue },
        identity: 'rounds',
      }),
    );
    const payload = client.options.loadedDataConverter.payloadConverter.toPayload(result);
    await workflowService.respondWorkflowTaskCompleted({
      ...{ namespace, taskToken, identity: 'rounds' },
      commands: [
        {
          commandType: COMPLETE_WORKFLOW_EXECUTION,
          completeWorkflowExecutionCommandAttributes: { result: { payloads: [payload] } },
        },
      ],
    });
    return [handle.workflowId, handle.firstExecutionRunId] as const;
  }
  /** Waits until a list of the server contains all. */
  async function listed(taskQueue: string, count: number): Promise<void> {
    const { client } = (await stack()).server;
    const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus != 'Running'`;
    await eventually('the list', async () => (await client.workflow.count(query)).count >= count);
  }
  const unconfirmed = (key: string, sendId = 's-1') => ({
    ...{ outcome: 'unconfirmed', creationKey: key, sendAttempt: 0, evidence: { sendId } },
    billing: { state: 'needs_review', estimate: 5, currency: 'USD' },
  });
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
  const DOWN: CreateJournal = {
    ...NO_JOURNAL,
    kind: 'file',
    read: () => Promise.reject(new Error('down')),
    scan: () => Promise.reject(new Error('down')),
  };

  it('ends in time: the next rounds report what is left, by whichever worker, and each end once', async () => {
    const { server } = await stack();
    const where = await place();
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1) ids.push((await terminated(where.taskQueue))[0]);
    await listed(where.taskQueue, ids.length);
    const posted: unknown[] = [];
    let from = Date.now() - 40 * MINUTE;
    let rounds = 0;
    for (; from !== Infinity && rounds < 20; rounds += 1) {
      let reported = 0;
      const round: CollectRound = {
        ...{ client: server.client, place: where, journal: async () => NO_JOURNAL, now: Date.now() },
        ...{ beat: () => undefined, isOver: () => reported >= 2, isNew: () => true, givesUp: () => false },
        post: async ({ data }) => void posted.push(data['id']),
        done: () => void (reported += 1),
        closed: () => undefined,
      };
      const environment = new MockActivityEnvironment({}, { client: server.client });
      const left = await environment.run<[], Left, () => Promise<Left>>(() => findEnded(round, from));
      expect(left.failed).toBe(0);
      ({ from } = left);
    }
    expect(rounds).toBeGreaterThan(1);
    expect(new Set(posted)).toEqual(new Set(ids));
  });

  /** A client whose codec does this with results of calls. */
  async function clientWith(read: () => Promise<unknown>): Promise<Client> {
    const { client, namespace } = (await stack()).server;
    const decode: PayloadCodec['decode'] = async (payloads) => {
      if (payloads.some(({ data }) => Buffer.from(data ?? []).includes('"billing"'))) await read();
      return payloads;
    };
    const payloadCodecs: PayloadCodec[] = [{ encode: async (payloads) => payloads, decode }];
    return new Client({ connection: client.connection, namespace, dataConverter: { payloadCodecs } });
  }

  it('a codec that hangs: other ends are reported', async () => {
    const where = await place();
    const client = await clientWith(() => new Promise(() => undefined));
    const call = await completed(where.taskQueue, unconfirmed('hanging-key'));
    const other = await terminated(where.taskQueue);
    await listed(where.taskQueue, 2);
    const { round, started } = collectorOf(client, where);
    await round();
    expect(await started('call.ended', other)).toMatchObject({ data: { status: 'TERMINATED' } });
    expect(await started('call.ended', call)).toBeUndefined();
  });

  it('a codec that is down: other ends are reported, and a result for half an hour only with its outcome', async () => {
    const where = await place();
    const { taskQueue } = where;
    let isDown = true;
    const client = await clientWith(async () => {
      if (isDown) throw new Error('The codec is down.');
    });
    const call = await completed(taskQueue, unconfirmed('codec-key'));
    const other = await terminated(taskQueue);
    await listed(taskQueue, 2);
    const { round, started } = collectorOf(client, where);
    const now = Date.now();
    const { since, laterSince } = await round();
    expect(await started('call.ended', other)).toMatchObject({ data: { status: 'TERMINATED' } });
    expect(await started('call.ended', call)).toBeUndefined();
    expect(laterSince).toBeGreaterThanOrEqual(now);
    // Weeks of rounds read on from there, so this cannot be missed.
    expect((await round({}, since + 20 * MINUTE)).laterSince).toBe(laterSince);
    isDown = false;
    expect(await round({}, since + 21 * MINUTE)).not.toHaveProperty('laterSince', laterSince);
    expect(await started('call.ended', call)).toMatchObject({
      data: { outcome: 'unconfirmed', cost: { microUnits: 5 } },
    });
    isDown = true;
    const late = await completed(taskQueue, unconfirmed('never-read'));
    await listed(taskQueue, 3);
    const again = collectorOf(client, where);
    await again.round();
    expect(await again.started('call.ended', late)).toBeUndefined();
    await again.round({}, Date.now() + 31 * MINUTE);
    expect(await again.started('call.ended', late)).toMatchObject({
      data: { status: 'COMPLETED', outcome: null },
    });
  });

  it('a journal that is down: the end is reported, and the send later under the id that the journal gives it', async () => {
    const { client } = (await stack()).server;
    const where = await place();
    const key = (await stack()).server.uniqueId('journal-key');
    const call = await completed(where.taskQueue, unconfirmed(key, `s-${key}`));
    const other = await terminated(where.taskQueue);
    await listed(where.taskQueue, 2);
    let opened: () => Promise<CreateJournal> = () => Promise.reject(new Error('down'));
    const { round, started } = collectorOf(client, where, { journal: () => opened() });
    for (const open of [opened, async () => DOWN]) {
      opened = open;
      await round();
      for (const id of [call, other]) expect(await started('call.ended', id)).toBeDefined();
      for (const about of [call, [key, `s-${key}`]])
        expect(await started('call.unconfirmed', about)).toBeUndefined();
    }
    const journal = await journalWith(where.namespace, [key]);
    opened = async () => journal;
    await round();
    expect(await started('call.unconfirmed', [key, `s-${key}`])).toMatchObject({ data: { model: 'm' } });
    expect(await started('call.unconfirmed', call)).toBeUndefined();
    // Another queue's collector finds the same event.
    const other2 = collectorOf(client, { ...where, taskQueue: `${where.taskQueue}-2` }, { journal: opened });
    expect(await other2.started('call.unconfirmed', [key, `s-${key}`])).toMatchObject({
      data: { taskQueue: where.taskQueue },
    });
  });

  it('without a journal, the result names the send', async () => {
    const { client } = (await stack()).server;
    const where = await place();
    const key = (await stack()).server.uniqueId('no-journal');
    await completed(where.taskQueue, unconfirmed(key));
    await listed(where.taskQueue, 1);
    const { round, started } = collectorOf(client, where);
    await round();
    expect(await started('call.unconfirmed', [key, 's-1'])).toBeDefined();
  });

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
