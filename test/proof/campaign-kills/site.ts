import { join } from 'node:path';
import { type SandboxOptions } from '../../../packages/sandbox/src';
import { type LogEntry } from '../../../src/domain/log-entries';
import { startMediaStack, type MediaStack } from '../../support/media-stack';
import { dataDirOf, journalAt, STORES } from '../../support/store-places';
import { startWorkerProcess, type WorkerProcess } from '../../support/worker-process';
import { hasOpenIntent } from '../kills/create-facts';
import { startKillableServer } from '../temporal-faults/killable-server';

/** What a kill hits. */
export type Target = 'worker' | 'server' | 'both';

/** A Temporal server on a file, a service, and a worker in a process of its own: each can be killed at any time. */
export interface KillSite {
  readonly stack: MediaStack;
  readonly journal: string;
  /** Milliseconds since the Unix epoch at which a worker died, and at which its successor ran. */
  readonly outages: readonly (readonly [from: number, until: number])[];
  /** SIGKILL, and the next one. Keys whose intent the dead worker left without an outcome are remembered. */
  kill(target: Target): Promise<void>;
  /** Creation keys that a dead worker left open: nobody can know what they came to. */
  readonly leftOpen: ReadonlySet<string>;
  stop(): Promise<void>;
}

export async function startKillSite(sandbox: SandboxOptions): Promise<KillSite> {
  const server = await startKillableServer();
  let stack: MediaStack | undefined;
  try {
    stack = await startMediaStack({ sandbox, temporal: server });
    return await site(stack, server);
  } catch (error) {
    await stack?.stop();
    await server.stop();
    throw error;
  }
}

async function site(
  stack: MediaStack,
  server: Awaited<ReturnType<typeof startKillableServer>>,
): Promise<KillSite> {
  const journal = stack.env['MEDIA_JOURNAL'] ?? '';
  const outages: (readonly [number, number])[] = [];
  const leftOpen = new Set<string>();
  let started = 0;
  const start = (): Promise<WorkerProcess> =>
    startWorkerProcess(stack, join(__dirname, 'killed-worker.js'), {
      MEDIA_JOURNAL: journal,
      ...dataDirOf(stack.dataDir, (started += 1)),
    });
  // Where hosts share the stores, two of them share the campaign, and each is killed in turn.
  const workers = await Promise.all(Array.from({ length: STORES === 'files' ? 1 : 2 }, start));
  let turn = 0;

  async function killWorker(): Promise<void> {
    const worker = workers[turn % workers.length]!;
    worker.signal('SIGKILL');
    await worker.gone;
    // Before anybody takes over: the records are what the dead worker left, and what another one is sending.
    for (const key of await openKeys(journal)) leftOpen.add(key);
  }

  async function startNext(): Promise<void> {
    workers[turn % workers.length] = await start();
    turn += 1;
  }

  return {
    stack,
    journal,
    outages,
    leftOpen,
    kill: async (target) => {
      const from = Date.now();
      if (target !== 'server') await killWorker();
      if (target !== 'worker') await server.killAndRestart();
      if (target === 'server') {
        // It may have given up while nobody answered.
        const gone = await Promise.race([
          workers[turn % workers.length]!.gone.then(() => true),
          moment(3_000),
        ]);
        if (gone !== true) return;
        for (const key of await openKeys(journal)) leftOpen.add(key);
      }
      await startNext();
      outages.push([from, Date.now()]);
    },
    stop: async () => {
      for (const worker of workers) worker.signal('SIGKILL');
      await Promise.all(workers.map(({ gone }) => gone));
      await stack.stop();
      await server.stop();
    },
  };
}

const moment = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** Keys with an intent and no answer. */
async function openKeys(root: string): Promise<string[]> {
  const open: string[] = [];
  for (const [key, log] of await journalKeys(root)) if (hasOpenIntent(log)) open.push(key);
  return open;
}

/** Everything in a journal, by creation key. */
export async function journalKeys(root: string): Promise<Map<string, readonly LogEntry[]>> {
  const journal = await journalAt(root);
  const keys = new Map<string, readonly LogEntry[]>();
  for (let after: string | null = null; ;) {
    const page = await journal.scan(after, 1_000);
    for (const log of page.logs) {
      const intent = log.find((entry) => entry.kind === 'intent');
      if (intent !== undefined) keys.set(intent.creationKey, log);
    }
    after = page.next;
    if (after === null) return keys;
  }
}
