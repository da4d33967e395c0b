import '../support/quiet-temporal';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { MediaPlugin } from '../../src/plugin';
import { accepted } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';
import { type Fault, FAULTS, faultyPlace, throughFault, wrong } from './support/startup-faults';
import { prebuilt, USERS_WORKFLOWS, usersWorker } from './support/users-worker';

describe('a fault of ours when the worker of a user starts', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }, async () => undefined);
  let bundling: ReturnType<typeof prebuilt> | undefined;

  interface Faulty {
    readonly taskQueue: string;
    readonly options: Parameters<typeof Worker.create>[0];
    readonly media: MediaPlugin;
    readonly client: Client;
    readonly mend: () => Promise<void>;
    readonly remove: () => Promise<void>;
  }

  async function withFault(fault: Fault, startup?: 'strict'): Promise<Faulty> {
    const users = usersWorker(await stack(), 'startup');
    const { taskQueue, client } = users;
    const { env, mend, remove } = await faultyPlace(fault, await stack(), taskQueue);
    const media = new MediaPlugin({ env, ...(startup !== undefined && { startup }) });
    const workflowBundle = await (bundling ??= prebuilt(USERS_WORKFLOWS, [users.media]));
    const options = { ...users.options, workflowBundle, plugins: [media] };
    return { taskQueue, media, client, options, mend, remove };
  }

  it.concurrent.each(FAULTS)(
    '$what: their own workflows go on, a paid call waits with the reason, and is sent when it is mended',
    async (fault) => {
      const faulty = await withFault(fault);
      try {
        const worker = await Worker.create(faulty.options);
        const isReady = () => faulty.media.isReady();
        const whole = await stack();
        const prompt = await worker.runUntil(() => throughFault(whole, fault, { ...faulty, isReady }));
        expect(await isReady()).toBe(false);
        expect(await accepted(whole, prompt)).toBe(1);
      } finally {
        await faulty.remove();
      }
    },
  );

  it.concurrent.each(FAULTS)('$what: no worker is made where that is wanted', async (fault) => {
    const faulty = await withFault(fault, 'strict');
    try {
      await expect(Worker.create(faulty.options)).rejects.toHaveProperty('name', fault.strict);
    } finally {
      await faulty.remove();
    }
  });

  it.concurrent('a store that does not answer keeps nobody from starting and stopping', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const faulty = await withFault(
      wrong('MEDIA_JOURNAL', `postgres://nobody@127.0.0.1:${port}/none`, /never read/),
    );
    const { taskQueue, client } = faulty;
    try {
      const worker = await Worker.create(faulty.options);
      const own = { taskQueue, workflowId: `${taskQueue}/own` };
      expect(await worker.runUntil(() => client.workflow.execute('rehearsal', own))).toBe('rehearsed');
    } finally {
      silent.close();
      await faulty.remove();
    }
  });
});
