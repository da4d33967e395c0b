import { type Command } from 'commander';
import { type ImageOutcome, type VideoOutcome } from 'temporal-media';
import { type Started } from 'temporal-media/client';
import { given } from 'temporal-media/internal/domain/json';
import { DEFAULT_WAIT_MS } from 'temporal-media/internal/domain/timeouts';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
  withCommonOptions,
  withServer,
} from '../shared/context';
import { badInput, CliError } from '../shared/errors';
import { onInterruption } from '../shared/interruption';
import { POLLING_HELP, pollingOf, waitForOf, waitMsOf } from '../shared/paid-options';
import { commandFor } from '../shared/text';

/** Adds `nudge`, which polls a video earlier than scheduled. */
export function addNudgeCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('nudge')
      .description('poll a video early because it may be done, but never sooner than its model allows')
      .argument('<workflow-or-task-id>', 'id of the workflow, or of the task at the service'),
  )
    .addHelpText('after', HELP)
    .action(async (id: string, options: CommonOptions) => nudge(context, id, options));
}

const HELP = `
Use it when another source, such as a webhook, says that a task may be done. The poll determines the task's real status.
It still respects the model's minimum interval, Retry-After and the pause after an error.

Example:
  $ temporal-media nudge vid_0b1c
`;

async function nudge(context: CommandContext, id: string, options: CommonOptions): Promise<void> {
  const { report } = context;
  if (id.trim() === '') throw badInput([{ field: 'workflow-or-task-id', message: 'must not be empty.' }]);
  await withServer(context, options, async ({ media }) => {
    if (!(await media.nudge(id)))
      throw new CliError('not_found', `No workflow is waiting for ${id}.`, {
        hint: `To see what is known about it, run \`${commandFor('status', id)}\`.`,
      });
    report.result('The next poll will run early.');
    report.reply({ ok: true, data: { id } });
  });
}

interface WatchOptions extends CommonOptions {
  readonly waitFor?: string;
}

/** Adds `watch`, which shows a running video until it ends. It starts and saves nothing. */
export function addWatchCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('watch')
      .description('show a running video or image call until it ends; starts nothing and saves nothing')
      .argument('<workflow-or-task-id>', 'id of the call, or of the task at the service')
      .option('--wait-for <duration>', 'how long to watch: 90s, 15m, 2h, 3d (default: until it ends)'),
  )
    .addHelpText('after', WATCH_HELP)
    .action(async (id: string, options: WatchOptions) => watch(context, id, options));
}

const WATCH_HELP = `
Ctrl-C stops only this command. If a video's wait has ended, \`temporal-media resume\` waits again and saves the file.

Examples:
  $ temporal-media watch sku-1
  $ temporal-media watch vid_0b1c -o jsonl
`;

async function watch(context: CommandContext, id: string, options: WatchOptions): Promise<void> {
  const { report } = context;
  if (id.trim() === '') throw badInput([{ field: 'workflow-or-task-id', message: 'must not be empty.' }]);
  const waitMs = waitMsOf(waitForOf(options.waitFor));
  const config = effectiveConfig(context, options);
  const { connect } = await import('../shared/connect.js');
  const { startedActivity } = await import('temporal-media/internal/client/workflow-handle');
  const { videoStatus } = await import('../status/run.js');
  const { waitForOutcome } = await import('../shared/run-paid.js');
  const { answerLeft, answerOutcome } = await import('../shared/outcome-report.js');
  const connected = await connect(config, effectiveEnvironment(context, options));
  const interruption = onInterruption();
  try {
    const { client, media } = connected;
    const found = await videoStatus(connected, config, id);
    const activity = found?.activity;
    const started: Started<VideoOutcome | ImageOutcome> | false =
      activity != null
        ? startedActivity(client, client.activity.getHandle(activity.activityId, activity.runId), false)
        : found?.workflow != null && media.getVideo(found.workflow.workflowId);
    if (!started) {
      const hint = `To see what is known, run \`${commandFor('status', id)}\`. To wait for a task, run \`${commandFor('resume', id)}\`.`;
      throw new CliError('not_found', `Nothing that runs or ran was found for ${id}.`, { hint });
    }
    const { as, workflowId } = started;
    const runId = found?.workflow?.runId ?? started.runId;
    report.event('watching', { as, workflowId, runId });
    const resumeHint = commandFor('watch', id);
    const waited = await waitForOutcome(started, {
      connected,
      report,
      interruption,
      resumeHint,
      showState: as === 'workflow',
      waitMs,
    });
    if (waited.kind === 'ended') return answerOutcome(context, waited.outcome, workflowId);
    answerLeft(context, { as, workflowId, runId, isNew: false, state: waited.state }, resumeHint);
  } finally {
    interruption.dispose();
  }
}

interface ResumeOptions extends CommonOptions {
  readonly waitFor?: string;
  readonly polling?: string;
  readonly out: string;
}

/** Adds `resume`, which continues waiting for a video. It polls and downloads but never creates. */
export function addResumeCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('resume')
      .description('continue waiting for a video or image call and save the files; never creates anything')
      .argument('<workflow-or-task-id>', 'id of the call, or of the task at the service')
      .option(
        '--wait-for <duration>',
        'how long to wait before exiting; the video continues: 90s, 15m, 2h, 3d (default: 15m)',
      )
      .option('--polling <mode>', POLLING_HELP)
      .option('--out <dir>', 'directory for the file', '.'),
  )
    .addHelpText('after', RESUME_HELP)
    .action(async (id: string, options: ResumeOptions) => resume(context, id, options));
}

const RESUME_HELP = `
If the workflow is still running, the command attaches to it. Ctrl-C detaches without canceling anything.

Example:
  $ temporal-media resume sku-1 --wait-for 2h --out out
`;

async function resume(context: CommandContext, id: string, options: ResumeOptions): Promise<void> {
  if (id.trim() === '') throw badInput([{ field: 'workflow-or-task-id', message: 'must not be empty.' }]);
  const waitFor = waitForOf(options.waitFor);
  const polling = pollingOf(options.polling);
  const config = effectiveConfig(context, options);
  const { runPaid } = await import('../shared/run-paid.js');
  await runPaid(context, {
    config,
    store: await openArtifactStore(config),
    id,
    out: options.out,
    env: effectiveEnvironment(context, options),
    showState: true,
    needs: ['poll', 'download'],
    waitMs: waitMsOf(waitFor) ?? DEFAULT_WAIT_MS,
    announce: `Looking for ${id}`,
    resumeHint: commandFor('resume', id),
    start: async (media) =>
      (await media.images.getHandle(id)) ?? media.resume(id, given({ waitFor, polling })),
  });
}
