import { type Command } from 'commander';
import { type CommandContext, type CommonOptions, withCommonOptions } from '../context';
import { CliError } from '../errors';

/** Options of `replay`. */
export interface ReplayOptions extends CommonOptions {
  readonly runId?: string;
  readonly query?: string;
  readonly allOpen?: boolean;
  readonly golden?: string;
  readonly workflowsPath?: string;
  readonly bundle?: string;
  readonly inspect?: string | true;
  readonly at?: string;
  readonly timeline?: boolean;
  readonly html?: string;
  readonly children?: boolean;
  readonly concurrency?: string;
}

/** `replay`: what happened in a workflow, and whether the code at hand replays it. */
export function addReplayCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('replay')
      .description('tell what happened in workflows or history files, and replay them with the code at hand')
      .argument('[target...]', 'workflow id, history file (JSON or protobuf) or folder of history files')
      .option('--run-id <id>', 'a run of the workflow; the runs before and after it are read too')
      .option('--query <query>', 'all workflows that this query of visibility finds')
      .option('--all-open', 'all open workflows of the namespace, before a deployment')
      .option('--golden <dir>', 'golden histories of `history record`: all of them, unchanged')
      .option('--workflows-path <file>', 'your workflows, which are bundled beside those of this package')
      .option('--bundle <file>', 'a workflow bundle of your build')
      .option('--timeline', 'tell also what happened in workflows of a query or a folder')
      .option('--no-timeline', 'only the verdict')
      .option('--html <file>', 'draw the timeline of one workflow as a page that opens from disk')
      .option('--children', 'read child workflows too: the videos of a workflow, the batches of a campaign')
      .option('--concurrency <n>', 'histories at a time (default: one for each processor, up to 4, for many)')
      .option('--inspect [port]', 'stop in the Node inspector where the workflow begins')
      .option('--at <event>', 'stop in the workflow task of this event; with --inspect'),
  )
    .addHelpText('after', HELP)
    .action(async (targets: readonly string[], options: ReplayOptions) => {
      refuseContradictions(targets, options);
      const { replay } = await import('../replay/replay.js');
      await replay(context, targets, options);
    });
}

function refuseContradictions(targets: readonly string[], options: ReplayOptions): void {
  const { query, allOpen, golden, workflowsPath, bundle, inspect, at, runId, html, children, concurrency } =
    options;
  const named = [targets.length > 0, query !== undefined, allOpen === true, golden !== undefined];
  const wrong =
    named.filter(Boolean).length !== 1
      ? 'Name targets, or one of --query, --all-open and --golden.'
      : workflowsPath !== undefined && bundle !== undefined
        ? 'Name --workflows-path or --bundle, not both.'
        : at !== undefined && inspect === undefined
          ? '--at needs --inspect.'
          : at !== undefined && !/^[1-9]\d*$/.test(at)
            ? '--at is the number of an event.'
            : (runId !== undefined || inspect !== undefined) && targets.length !== 1
              ? '--run-id and --inspect need exactly one target.'
              : (html !== undefined || children === true) && targets.length !== 1
                ? '--html and --children need exactly one target.'
                : concurrency !== undefined && !/^[1-9]\d?$/.test(concurrency)
                  ? '--concurrency is a whole number from 1 to 99.'
                  : undefined;
  if (wrong !== undefined) throw new CliError('usage', wrong);
}

const HELP = `
Without --workflows-path and --bundle the workflows of this package replay. Nothing is sent to the service, and nothing is
changed. A replay compares the commands of the workflow code and not their inputs: a changed prompt replays.
Exit code 0: every history replays; 5: one does not, or is missing; 65: a target is no history.

Examples:
  $ temporal-media replay sku-1
  $ temporal-media replay spring --children --html spring.html
  $ temporal-media replay --all-open --workflows-path src/workflows.ts
  $ temporal-media replay history.json --inspect --at 24
`;
