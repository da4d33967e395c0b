import { type Command } from 'commander';
import { type CommandContext, withCommonOptions } from '../shared/context';
import { CliError } from '../shared/errors';
import { type ReplayOptions } from './options';

/** `replay`: shows what happened in a workflow, and whether the current code replays it. */
export function addReplayCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('replay')
      .description('show what happened in workflows or history files, and replay them with the current code')
      .argument('[target...]', 'workflow id, history file (JSON or protobuf) or folder of history files')
      .option('--run-id <id>', 'a run of the workflow; earlier and later runs are read too')
      .option('--query <query>', 'all workflows that match this visibility query')
      .option('--all-open', 'all open workflows of the namespace, before a deployment')
      .option(
        '--golden <dir>',
        'golden histories of `history record`: all must be present, unchanged and replay',
      )
      .option('--workflows-path <file>', 'your workflows, bundled together with those of this package')
      .option('--bundle <file>', 'a workflow bundle of your build')
      .option('--timeline', 'also show what happened in the workflows of a query or a folder')
      .option('--no-timeline', 'only the verdict')
      .option('--utc', 'show times in UTC instead of the time zone of this machine')
      .option('--html <file>', 'write the timeline of one workflow as an HTML page')
      .option('--children', 'read child workflows too: the videos of a workflow, the batches of a campaign')
      .option(
        '--strict-inputs',
        'fail if the inputs of paid calls differ from the history (default with --golden)',
      )
      .option('--concurrency <n>', 'histories at a time (default: with many, one per processor, up to 4)')
      .option('--verbose', 'also show what a replay does not compare, and what to do about a difference')
      .option('--inspect [port]', 'stop in the Node inspector where the workflow starts')
      .option('--at <event>', 'stop in the workflow task of this event; with --inspect')
      .option(
        '--whatif',
        'run a similar request against a sandbox on this machine, with the faults of the history',
      )
      .option(
        '--speed <factor>',
        'factor by which waits and polls without changes are shortened (default: 10); with --whatif',
      )
      .option('--save-test <file>', 'write that run as a jest test, .ts or .js; with --whatif'),
  )
    .addHelpText('after', HELP)
    .action(async (targets: readonly string[], options: ReplayOptions) => {
      refuseContradictions(targets, options);
      if (options.whatif === true) {
        const { whatif } = await import('../whatif/run.js');
        return whatif(context, targets[0] ?? '', options);
      }
      const { replay } = await import('./run.js');
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
                  : whatifProblem(targets, options);
  if (wrong !== undefined) throw new CliError('usage', wrong);
}

function whatifProblem(targets: readonly string[], options: ReplayOptions): string | undefined {
  const { whatif, speed, saveTest, html, children, inspect, workflowsPath, bundle, timeline, concurrency } =
    options;
  if (whatif !== true)
    return speed === undefined && saveTest === undefined
      ? undefined
      : '--speed and --save-test need --whatif.';
  if (targets.length !== 1) return '--whatif needs exactly one target.';
  if (
    [html, children, inspect, workflowsPath, bundle, timeline, concurrency].some(
      (given) => given !== undefined,
    )
  )
    return '--whatif runs the workflows of this package and prints their timelines. Omit the other options.';
  return speed === undefined || /^[1-9]\d{0,3}$/.test(speed)
    ? undefined
    : '--speed is a whole number from 1 to 9999.';
}

const HELP = `
Without --workflows-path and --bundle the workflows of this package replay. Nothing is sent to the service, and nothing is
changed. A replay compares the commands of the workflow code and the inputs of paid calls of this package. If only such an input
differs, such as a changed prompt, the verdict is inputs_differ, which fails with --strict-inputs or --golden. The inputs of your
own activities are not compared.
Exit code 0: every history replays; 5: one does not, or is missing; 65: a target is not a history. With --whatif, 0: the same
outcome, 5: a different outcome.

Examples:
  $ temporal-media replay sku-1
  $ temporal-media replay spring --children --html spring.html
  $ temporal-media replay --all-open --workflows-path src/workflows.ts
  $ temporal-media replay history.json --inspect --at 24
  $ temporal-media replay history.json --whatif --save-test test/incident.test.ts
`;
