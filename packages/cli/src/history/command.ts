import { type Command } from 'commander';
import { type ExportOptions, type RecordOptions } from '../replay/options';
import { type CommandContext, withCommonOptions } from '../shared/context';
import { CliError } from '../shared/errors';

/** Adds `history`, which saves histories for bug reports and tests. */
export function addHistoryCommand(program: Command, context: CommandContext): void {
  const history = program.command('history').description('save histories for bug reports and tests');
  withCommonOptions(
    history
      .command('export')
      .description("write a workflow's history to a file; --redact removes its text")
      .argument('<workflow-id>', 'workflow id, or a history file to redact')
      .argument('<file>', 'output file: .json, or .bin for protobuf')
      .option('--run-id <id>', 'run to export (default: the latest)')
      .option(
        '--redact',
        'remove prompts, names, URLs, memo and search attributes; the history still replays',
      )
      .option('--keep <fields>', KEEP_HELP)
      .option('--label <name>', LABEL_HELP)
      .option('--keep-encrypted', 'leave payloads codec-encoded (default: decode them)')
      .option(
        '--workflows-path <file>',
        'your workflows; a redacted history keeps words that occur in their code',
      )
      .option('--bundle <file>', 'your workflows as a prebuilt bundle'),
  )
    .addHelpText('after', EXPORT_HELP)
    .action(async (target: string, file: string, options: ExportOptions) => {
      refuseTwoCodes(options);
      if (options.redact === true && options.keepEncrypted === true)
        throw new CliError(
          'usage',
          '--redact and --keep-encrypted cannot be combined: encoded payloads cannot be redacted.',
        );
      const { exportHistory } = await import('./run.js');
      await exportHistory(context, target, file, options);
    });
  withCommonOptions(
    history
      .command('record')
      .description('add histories to a folder of golden histories for `replay --golden`')
      .argument('[target...]', 'workflow ids, history files or folders')
      .requiredOption('--to <dir>', "output folder; its manifest contains each file's digest")
      .option('--query <query>', 'record the workflows that match this visibility query')
      .option('--redact', 'redact, as in `history export`')
      .option('--keep <fields>', KEEP_HELP)
      .option('--label <name>', `${LABEL_HELP}, also in the file name`)
      .option(
        '--workflows-path <file>',
        'your workflows; a redacted history keeps words that occur in their code',
      )
      .option('--bundle <file>', 'your workflows as a prebuilt bundle'),
  )
    .addHelpText('after', RECORD_HELP)
    .action(async (targets: readonly string[], options: RecordOptions) => {
      refuseTwoCodes(options);
      if (targets.length > 0 === (options.query !== undefined))
        throw new CliError('usage', 'Pass either targets or --query.');
      const { recordHistories } = await import('./run.js');
      await recordHistories(context, targets, options);
    });
}

function refuseTwoCodes({ workflowsPath, bundle }: Pick<ExportOptions, 'workflowsPath' | 'bundle'>): void {
  if (workflowsPath !== undefined && bundle !== undefined)
    throw new CliError('usage', '--workflows-path and --bundle cannot be combined.');
}

const KEEP_HELP = 'fields that --redact keeps readable, for example model,currency';
const LABEL_HELP =
  'with --redact: name that replaces the workflow id (default: the workflow type and a number)';

const EXPORT_HELP = `
--redact replaces all text except words that occur in the workflow code, and replaces equal text consistently. It keeps
numbers and times. Before the file is written, the redacted history is replayed and must produce the same verdict.

Example:
  $ temporal-media history export sku-1 sku-1.json --redact
`;

const RECORD_HELP = `
Existing files are never overwritten. A history is recorded only if the current code replays it: this package's workflows,
and yours with --workflows-path or --bundle. Commit the folder. In CI, \`replay --golden DIR --workflows-path FILE\` replays
all of it.

Example:
  $ temporal-media history record --query "WorkflowType = 'productFilm'" --to test/golden
`;
