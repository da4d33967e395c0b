import { startCli, type CliProcess } from '../../cli/support/run-cli';

/** A worker of the command line that is started again whenever it ends, as a service manager does. */
export interface KeptWorker {
  /** How often it has ended without being told to. */
  ends(): number;
  stop(): Promise<void>;
}

/**
 * Starts `temporal-media worker` with the environment of a stack. The journal is the stack's own unless MEDIA_JOURNAL
 * names another one for the whole run.
 */
export async function keepWorker(env: Readonly<Record<string, string>>): Promise<KeptWorker> {
  const journal = process.env['MEDIA_JOURNAL'];
  const own = { ...env, ...(journal === undefined ? {} : { MEDIA_JOURNAL: journal }) };
  const start = (): CliProcess => startCli(['worker', '--log-level', 'ERROR'], own);
  let stopping = false;
  let ends = 0;
  let worker = start();
  await worker.untilLine('stderr', /^Ready: task queue/);
  const kept = (async () => {
    for (;;) {
      const { code, stderr } = await worker.ended;
      if (stopping) return;
      ends += 1;
      process.stderr.write(`The worker ended with ${code}: ${stderr.slice(-1_000)}\n`);
      worker = start();
    }
  })();
  return {
    ends: () => ends,
    stop: async () => {
      stopping = true;
      worker.child.kill('SIGTERM');
      await kept;
    },
  };
}
