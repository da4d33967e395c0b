import { type Command } from 'commander';
import { badInput, CliError } from '../cli-error';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
  withCommonOptions,
} from '../command-context';
import { onInterruption } from '../interruption';
import { waitForOf, waitMsOf } from '../paid-options';
import { commandFor } from '../shell-word';

interface WatchOptions extends CommonOptions {
  readonly waitFor?: string;
}

/** `watch`: shows a running video until its outcome; starts and saves nothing. */
export function addWatchCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('watch')
      .description('show a running video until it ends; starts nothing and saves nothing')
      .argument('<workflow-or-task-id>', 'id of the workflow, or of the task at the service')
      .option('--wait-for <duration>', 'how long to watch: 90s, 15m, 2h, 3d (default: to its end)'),
  )
    .addHelpText('after', HELP)
    .action(async (id: string, options: WatchOptions) => watch(context, id, options));
}

const HELP = `
Ctrl-C ends the watching and nothing else. To wait again for a video whose wait is over, and to save the file:
\`temporal-media resume\`.

Examples:
  $ temporal-media watch sku-1
  $ temporal-media watch vid_0b1c -o jsonl
`;

async function watch(context: CommandContext, id: string, options: WatchOptions): Promise<void> {
  const { report } = context;
  if (id.trim() === '') throw badInput([{ field: 'workflow-or-task-id', message: 'must not be empty.' }]);
  const waitMs = waitMsOf(waitForOf(options.waitFor));
  const config = effectiveConfig(context, options);
  const { connect } = await import('../connect.js');
  const { videoStatus } = await import('../status/video-status.js');
  const { waitForOutcome } = await import('../wait-for-outcome.js');
  const { answerOutcome } = await import('../answer-outcome.js');
  const { answerLeft } = await import('../answer-left.js');
  const connected = await connect(config, effectiveEnvironment(context, options));
  const interruption = onInterruption();
  try {
    const found = await videoStatus(connected, config, id);
    const workflowId = found?.workflow?.workflowId;
    if (workflowId === undefined) {
      const hint = `\`${commandFor('status', id)}\` says what is known; \`${commandFor('resume', id)}\` waits for a task.`;
      throw new CliError('not_found', `No workflow is known that deals with ${id}.`, { hint });
    }
    report.event('watching', { workflowId, runId: found?.workflow?.runId });
    const started = connected.media.getVideo(workflowId);
    const resumeHint = commandFor('watch', id);
    const waited = await waitForOutcome(started, {
      connected,
      report,
      interruption,
      resumeHint,
      showState: true,
      waitMs,
    });
    if (waited.kind === 'ended') return answerOutcome(context, waited.outcome, workflowId);
    const { runId = '' } = found?.workflow ?? {};
    answerLeft(context, { workflowId, runId, isNew: false, state: waited.state }, resumeHint);
  } finally {
    interruption.dispose();
    await connected.close().catch(() => undefined);
  }
}
