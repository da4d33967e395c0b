import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client } from '@temporalio/client';
import { TemporalMediaClient } from '../../../src/client';
import { openJournal } from '../../../src/stores';
import { bindJournal } from '../../../src/worker';
import { received } from '../../support/accepted';
import { eventually } from '../../support/eventually';
import { type MediaStack } from '../../support/media-stack';

export type Environment = Record<string, string | undefined>;

export interface Fault {
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
export function wrong(name: string, value: string | undefined, says: RegExp): Fault {
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

export const FAULTS: readonly Fault[] = [
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
    says: /is bound to a different journal than this worker's/,
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
  fileInPlaceOf('MEDIA_JOURNAL', /One of its stores cannot be used\..* ENOTDIR/, 'Error'),
  fileInPlaceOf('MEDIA_ARTIFACTS', /The artifact store cannot be used \(/, 'ArtifactError'),
  wrong('MEDIA_ARTIFACTS', 'ftp://elsewhere', /MEDIA_ARTIFACTS: must be a folder or s3/),
  wrong('MEDIA_POLLING', 'often', /MEDIA_POLLING: must be own or shared/),
  wrong('MEDIA_BASE_URL', 'ftp://elsewhere', /MEDIA_BASE_URL: The base address must start with https/),
  wrong('MEDIA_BASE_URL', undefined, /MEDIA_BASE_URL: is not set/),
];

/** A place of its own for a worker with this fault: an environment, which `mend` changes too. */
export interface FaultyPlace {
  readonly env: Environment;
  readonly mend: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

export async function faultyPlace(
  { cause }: Fault,
  { env: usable, server }: MediaStack,
  taskQueue: string,
): Promise<FaultyPlace> {
  const dir = await mkdtemp(join(tmpdir(), 'temporal-media-startup-'));
  const places = { MEDIA_JOURNAL: join(dir, 'journal'), MEDIA_ARTIFACTS: join(dir, 'artifacts') };
  const env: Environment = { ...usable, MEDIA_DATA_DIR: dir, ...places };
  const mend = await cause(env, {
    dir,
    bind: async (journal) => {
      const opened = await openJournal({ journal, journalShared: false });
      await bindJournal({ client: server.client, taskQueue, journal: opened });
    },
  });
  return { env, mend, remove: () => rm(dir, { recursive: true, force: true }) };
}

/** A worker of a user that runs with a fault of ours. It has a workflow `rehearsal` of its own. */
export interface FaultyWorker {
  readonly client: Client;
  readonly taskQueue: string;
  readonly mend: () => Promise<void>;
  readonly isReady: () => Promise<boolean>;
}

/** Its own workflow goes on, a paid call waits with the reason, and is sent when the fault is mended. @returns its prompt, to be counted once the worker has ended */
export async function throughFault(stack: MediaStack, fault: Fault, worker: FaultyWorker): Promise<string> {
  const { client, taskQueue } = worker;
  const media = new TemporalMediaClient(client, { taskQueue });
  const prompt = `bought on ${taskQueue} although ${fault.what}`;
  const own = { taskQueue, workflowId: stack.server.uniqueId('own') };
  expect(await client.workflow.execute('rehearsal', own)).toBe('rehearsed');
  expect(await worker.isReady()).toBe(false);
  const video = await media.startVideo({ request: { model: 'cine-1', prompt, durationSeconds: 2 } });
  const waiting = await eventually('why it waits', async () => {
    const state = await media.videoState(video.workflowId).catch(() => undefined);
    return state?.phase === 'waiting_to_create' && state;
  });
  expect(waiting.waitingFor).toMatch(fault.says);
  expect(waiting.waitingFor).not.toContain(tmpdir());
  expect(await received(stack, prompt)).toBe(0);
  await worker.mend();
  expect(await video.result()).toMatchObject({ outcome: 'completed' });
  await eventually('that it is ready', worker.isReady);
  return prompt;
}
