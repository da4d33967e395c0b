import inspector from 'node:inspector';
import { inspectRun } from '../../replay/inspect-run';
import { type ReplayCode } from '../../replay/replay-histories';
import { type UnloadedTarget } from '../../replay/history-folder';
import { type LoadedRun, type LoadedTarget } from '../../replay/loaded-history';
import { type ReplayOptions } from '../commands/replay';
import { type CommandContext } from '../context';
import { CliError, withoutSecrets } from '../errors';

const DEFAULT_PORT = 9229;
/** Never another interface: a debugger may run any code in this process. */
const HOST = '127.0.0.1';

/** `replay --inspect`: waits for a debugger, and replays one run under it. */
export async function inspectTarget(
  { report }: CommandContext,
  code: ReplayCode,
  targets: AsyncIterable<LoadedTarget | UnloadedTarget>,
  { inspect, at, runId }: ReplayOptions,
): Promise<void> {
  const run = await runOf(targets, runId);
  const events = run.history.events?.length ?? 0;
  const eventId = at === undefined ? undefined : Number(at);
  if (eventId !== undefined && eventId > events)
    throw new CliError('usage', `--at: the history has ${events} events.`);
  const port = inspect === true || inspect === undefined ? DEFAULT_PORT : Number(inspect);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new CliError('usage', '--inspect takes a port, or nothing.');
  report.say(
    `Open chrome://inspect, or attach your editor to the address below. It stops ${
      eventId === undefined ? 'where the workflow begins' : `in the workflow task of event ${eventId}`
    }.`,
  );
  inspector.open(port, HOST, true);
  const error = await inspectRun(code.bundle, run, eventId);
  inspector.close();
  if (error !== undefined)
    throw new CliError('replay_differs', withoutSecrets(error.message.split('\n')[0] ?? ''));
  report.reply({
    ok: true,
    data: { workflowId: run.workflowId, runId: run.runId, stoppedAt: eventId ?? null },
  });
}

async function runOf(
  targets: AsyncIterable<LoadedTarget | UnloadedTarget>,
  runId: string | undefined,
): Promise<LoadedRun> {
  for await (const target of targets) {
    if ('error' in target) throw target.error;
    const run = target.runs.find((one) => one.runId === runId) ?? target.runs.at(-1);
    if (run !== undefined) return run;
  }
  throw new CliError('not_found', 'There is no run to inspect.');
}
