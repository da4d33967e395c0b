import { type Command } from 'commander';
import { type CommandContext, withCommonOptions } from '../shared/context';
import { CliError } from '../shared/errors';
import { type ReplayOptions } from './options';

/** Adds `replay`, which shows what happened in a workflow and whether the current code replays it. */
export function addReplayCommand(program: Command, context: CommandContext): void {
  withCommonOptions(
    program
      .command('replay')
      .description('show what happened in workflows or history files, and replay them with the current code')
      .argument('[target...]', 'workflow id, history file (JSON or protobuf), or folder of history files')
      .option('--run-id <id>', 'a run of the workflow; its earlier and later runs are also read')
      .option('--query <query>', 'replay all workflows that match this visibility query')
      .option('--all-open', 'replay all open workflows in the namespace, for example before a deployment')
      .option(
        '--golden <dir>',
        'golden histories from `history record`; all must be present, unchanged and replayable',
      )
      .option('--workflows-path <file>', "your workflows, to bundle with this package's workflows")
      .option('--bundle <file>', 'your workflows as a prebuilt bundle')
      .option('--timeline', 'also print timelines for a query or a folder')
      .option('--no-timeline', 'print only verdicts')
      .option('--utc', 'show times in UTC instead of local time')
      .option('--html <file>', "write one workflow's timeline as an HTML page")
      .option('--children', "also read child workflows, such as a workflow's videos or a campaign's batches")
      .option(
        '--strict-inputs',
        'fail if the inputs of paid calls differ from the history (default with --golden)',
      )
      .option(
        '--concurrency <n>',
        'histories to replay in parallel (default: for many histories, one per processor, up to 4)',
      )
      .option('--verbose', 'also explain what a replay does not compare and how to fix a difference')
      .option('--inspect [port]', 'stop in the Node inspector at the start of the workflow')
      .option('--at <event>', 'with --inspect: stop in the workflow task of this event')
      .option('--whatif', 'run a similar request against a local sandbox, with the faults from the history')
      .option(
        '--speed <factor>',
        'with --whatif: factor by which waits and unchanged polls are shortened (default: 10)',
      )
      .option('--save-test <file>', 'with --whatif: write the run as a Jest test, .ts or .js'),
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
      ? 'Pass targets, or exactly one of --query, --all-open and --golden.'
      : workflowsPath !== undefined && bundle !== undefined
        ? '--workflows-path and --bundle cannot be combined.'
        : at !== undefined && inspect === undefined
          ? '--at requires --inspect.'
          : at !== undefined && !/^[1-9]\d*$/.test(at)
            ? '--at must be an event number.'
            : (runId !== undefined || inspect !== undefined) && targets.length !== 1
              ? '--run-id and --inspect require exactly one target.'
              : (html !== undefined || children === true) && targets.length !== 1
                ? '--html and --children require exactly one target.'
                : concurrency !== undefined && !/^[1-9]\d?$/.test(concurrency)
                  ? '--concurrency must be a whole number from 1 to 99.'
                  : whatifProblem(targets, options);
  if (wrong !== undefined) throw new CliError('usage', wrong);
}

function whatifProblem(targets: readonly string[], options: ReplayOptions): string | undefined {
  const { whatif, speed, saveTest, html, children, inspect, workflowsPath, bundle, timeline, concurrency } =
    options;
  if (whatif !== true)
    return speed === undefined && saveTest === undefined
      ? undefined
      : '--speed and --save-test require --whatif.';
  if (targets.length !== 1) return '--whatif requires exactly one target.';
  if (
    [html, children, inspect, workflowsPath, bundle, timeline, concurrency].some(
      (given) => given !== undefined,
    )
  )
    return "--whatif runs this package's workflows and prints their timelines. Omit the other options.";
  return speed === undefined || /^[1-9]\d{0,3}$/.test(speed)
    ? undefined
    : '--speed must be a whole number from 1 to 9999.';
}

const HELP = `
Without --workflows-path or --bundle, this package's workflows are replayed. Nothing is changed or sent to the service.
A replay compares the workflow code's commands and the inputs of this package's paid calls. If only such an input differs,
for example a prompt, the verdict is inputs_differ, which is an error with --strict-inputs or --golden. The inputs of your
own activities are not compared.
Exit codes: 0 every history replays, 5 a history is missing or does not replay, 65 a target is not a history. With --whatif:
0 the same outcome, 5 a different outcome.

Examples:
  $ temporal-media replay sku-1
  $ temporal-media replay spring --children --html spring.html
  $ temporal-media replay --all-open --workflows-path src/workflows.ts
  $ temporal-media replay history.json --inspect --at 24
  $ temporal-media replay history.json --whatif --save-test test/incident.test.ts
`;
