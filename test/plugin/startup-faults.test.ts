import '../support/quiet-temporal';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { TemporalMediaClient } from '../../src/client';
import { MediaPlugin } from '../../src/plugin';
import { openJournal } from '../../src/stores';
import { bindJournal } from '../../src/worker';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { prebuilt, USERS_WORKFLOWS, usersWorker } from './support/users-worker';

type Environment = Record<string, string | undefined>;

interface Fault {
  readonly what: string;
  /** Breaks what the environment names. @returns what mends it again */
  readonly cause: (
    env: Environment,
    where: { readonly dir: string; readonly bind: (journal: string) => Promise<void> },
  ) => Promise<() => Promise<void>>;
  /** What the waiting call says. */
  readonly says: RegExp;
  /** Name of the error that a strict start throws. */
  readonly strict: string;
}

/** A variable with a value that cannot be used, until it has another one. */
function wrong(name: string, value: string | undefined, says: RegExp): Fault {
  return {
    what: `${name} is ${value ?? 'not set'}`,
    async cause(env) {
      const { [name]: right } = env;
      env[name] = value;
      return async () => void (env[name] = right);
    },
    says,
    strict: 'ConfigurationError',
  };
}

/** A file where a folder is to be. */
function fileInPlaceOf(name: string, says: RegExp, strict: string): Fault {
  return {
    what: `${name} lies below a file`,
    async cause(env, { dir }) {
      const file = join(dir, 'file');
      await writeFile(file, '');
      env[name] = join(file, 'store');
      return () => rm(file);
    },
    says,
    strict,
  };
}

const FAULTS: readonly Fault[] = [
  {
    what: 'the journal is an empty folder, and the queue has another one',
    async cause(env, { dir, bind }) {
      const [journal, elsewhere] = [join(dir, 'journal'), join(dir, 'elsewhere')];
      await bind(journal);
      await rename(journal, elsewhere);
      await mkdir(journal);
      env['MEDIA_JOURNAL'] = journal;
      return async () => {
        await rm(journal, { recursive: true });
        await rename(elsewhere, journal);
      };
    },
    says: /creates with another journal than this worker has/,
    strict: 'JournalBindingError',
  },
  {
    what: 'the file of accounts is missing',
    async cause(env, { dir }) {
      const file = join(dir, 'accounts.json');
      env['MEDIA_ACCOUNTS'] = file;
      const { MEDIA_BASE_URL: baseUrl } = env;
      delete env['MEDIA_BASE_URL'];
      const keyFile = join(dir, 'key');
      await writeFile(keyFile, env['MEDIA_API_KEY'] ?? '', { mode: 0o600 });
      const origins = env['MEDIA_ALLOWED_MEDIA_ORIGINS'];
      const account = { name: 'default', baseUrl, keyFile, allowedMediaOrigins: [origins] };
      return () => writeFile(file, JSON.stringify({ version: 1, accounts: [account] }));
    },
    says: /MEDIA_ACCOUNTS/,
    strict: 'ConfigurationError',
  },
  fileInPlaceOf('MEDIA_JOURNAL', /A store of it cannot be used\..* ENOTDIR/, 'Error'),
  fileInPlaceOf('MEDIA_ARTIFACTS', /The artifact store cannot be used \(/, 'ArtifactError'),
  wrong('MEDIA_ARTIFACTS', 'ftp://elsewhere', /MEDIA_ARTIFACTS: must be a folder or s3/),
  wrong('MEDIA_POLLING', 'often', /MEDIA_POLLING: must be own or shared/),
  wrong('MEDIA_BASE_URL', 'ftp://elsewhere', /MEDIA_BASE_URL: The base address must start with https/),
  wrong('MEDIA_BASE_URL', undefined, /MEDIA_BASE_URL: is not set/),
];

describe('a fault of ours when the worker of a user starts', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }, async () => undefined);
  let bundling: ReturnType<typeof prebuilt> | undefined;

  interface Faulty {
    readonly taskQueue: string;
    readonly options: Parameters<typeof Worker.create>[0];
    readonly media: MediaPlugin;
    readonly client: Client;
    readonly mend: () => Promise<void>;
    readonly end: () => Promise<void>;
  }

  async function withFault({ cause }: Fault, startup?: 'strict'): Promise<Faulty> {
    const { env: usable, server } = await stack();
    const dir = await mkdtemp(join(tmpdir(), 'temporal-media-startup-'));
    const env: Environment = { ...usable, MEDIA_DATA_DIR: dir };
    env['MEDIA_JOURNAL'] = join(dir, 'journal');
    env['MEDIA_ARTIFACTS'] = join(dir, 'artifacts');
    const users = usersWorker(await stack(), 'startup');
    const { taskQueue, client } = users;
    const mend = await cause(env, {
      dir,
      bind: async (journal) => {
        const opened = await openJournal({ journal, journalShared: false });
        await bindJournal({ client: server.client, taskQueue, journal: opened });
      },
    });
    const media = new MediaPlugin({ env, ...(startup !== undefined && { startup }) });
    const workflowBundle = await (bundling ??= prebuilt(USERS_WORKFLOWS, [users.media]));
    return {
      taskQueue,
      media,
      client,
      options: { ...users.options, workflowBundle, plugins: [media] },
      mend,
      end: () => rm(dir, { recursive: true, force: true }),
    };
  }

  async function stateOf(media: TemporalMediaClient, workflowId: string) {
    return media.videoState(workflowId).catch(() => undefined);
  }

  it.concurrent.each(FAULTS)(
    '$what: their own workflows go on, a paid call waits with the reason, and is sent when it is mended',
    async (fault) => {
      const whole: MediaStack = await stack();
      const { server } = whole;
      const faulty = await withFault(fault);
      const { taskQueue, client } = faulty;
      const media = new TemporalMediaClient(client, { taskQueue });
      const prompt = `bought although ${fault.what}`;
      try {
        const worker = await Worker.create(faulty.options);
        await worker.runUntil(async () => {
          const own = { taskQueue, workflowId: server.uniqueId('own') };
          expect(await client.workflow.execute('rehearsal', own)).toBe('rehearsed');
          expect(await faulty.media.isReady()).toBe(false);
          const video = await media.startVideo({ request: { model: 'cine-1', prompt, durationSeconds: 2 } });
          const waiting = await eventually('why it waits', async () => {
            const state = await stateOf(media, video.workflowId);
            return state?.phase === 'waiting_to_create' && state;
          });
          expect(waiting.waitingFor).toMatch(fault.says);
          expect(waiting.waitingFor).not.toContain(tmpdir());
          expect(await received(whole, prompt)).toBe(0);
          await faulty.mend();
          expect(await video.result()).toMatchObject({ outcome: 'completed' });
          await eventually('that it is ready', () => faulty.media.isReady());
        });
        expect(await faulty.media.isReady()).toBe(false);
        expect(await accepted(whole, prompt)).toBe(1);
      } finally {
        await faulty.end();
      }
    },
  );

  it.concurrent.each(FAULTS)('$what: no worker is made where that is wanted', async (fault) => {
    const faulty = await withFault(fault, 'strict');
    try {
      await expect(Worker.create(faulty.options)).rejects.toHaveProperty('name', fault.strict);
    } finally {
      await faulty.end();
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
      await faulty.end();
    }
  });
});
