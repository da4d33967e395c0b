import { type Command } from 'commander';
import { type ExportOptions, type RecordOptions } from '../replay/options';
import { type CommandContext, withCommonOptions } from '../shared/context';
import { CliError } from '../shared/errors';

/** `history`: saves histories for bug reports and for tests. */
export function addHistoryCommand(program: Command, context: CommandContext): void {
  const history = program.command('history').description('save histories for bug reports and for tests');
  withCommonOptions(
    history
      .command('export')
      .description('write the history of a workflow to a file; --redact removes its texts')
      .argument('<workflow-id>', 'workflow id, or a history file to redact')
      .argument('<file>', 'output file: .json, or .bin for protobuf')
      .option('--run-id <id>', 'run to export (default: the latest)')
      .option(
        '--redact',
        'remove prompts, names, addresses, memo and search attributes; the history still replays',
      )
      .option('--keep <fields>', KEEP_HELP)
      .option('--label <name>', LABEL_HELP)
      .option('--keep-encrypted', 'keep payloads as a codec has encoded them (default: the file is decoded)')
      .option('--workflows-path <file>', 'your workflows; a redacted history keeps the words of their code')
      .option('--bundle <file>', 'the same, as a workflow bundle of your build'),
  )
    .addHelpText('after', EXPORT_HELP)
    .action(async (target: string, file: string, options: ExportOptions) => {
      refuseTwoCodes(options);
      if (options.redact === true && options.keepEncrypted === true)
        throw new CliError(
          'usage',
          'Choose --redact or --keep-encrypted: encoded payloads cannot be redacted.',
        );
      const { exportHistory } = await import('./run.js');
      await exportHistory(context, target, file, options);
    });
  withCommonOptions(
    history
      .command('record')
      .description('add histories to a folder of golden histories, which `replay --golden` guards')
      .argument('[target...]', 'workflow ids, history files or folders')
      .requiredOption('--to <dir>', 'folder to write to; its manifest contains the digest of each file')
      .option('--query <query>', 'workflows that match this visibility query')
      .option('--redact', 'as in `history export`')
      .option('--keep <fields>', KEEP_HELP)
      .option('--label <name>', `${LABEL_HELP}, and in the name of the file`)
      .option('--workflows-path <file>', 'your workflows; a redacted history keeps the words of their code')
      .option('--bundle <file>', 'the same, as a workflow bundle of your build'),
  )
    .addHelpText('after', RECORD_HELP)
    .action(async (targets: readonly string[], options: RecordOptions) => {
      refuseTwoCodes(options);
      if (targets.length > 0 === (options.query !== undefined))
        throw new CliError('usage', 'Name targets or --query.');
      const { recordHistories } = await import('./run.js');
      await recordHistories(context, targets, options);
    });
}

function refuseTwoCodes({ workflowsPath, bundle }: Pick<ExportOptions, 'workflowsPath' | 'bundle'>): void {
  if (workflowsPath !== undefined && bundle !== undefined)
    throw new CliError('usage', 'Name --workflows-path or --bundle, not both.');
}

const KEEP_HELP = 'fields that --redact keeps readable, for example model,currency';
const LABEL_HELP =
  'with --redact: name that replaces the workflow id (default: the workflow type with a number)';

const EXPORT_HELP = `
With --redact every text is replaced that is not a word of the workflow code, equal texts by equal ones, and the result is
replayed before it is written: it must lead to the same verdict. Numbers and times stay.

Example:
  $ temporal-media history export sku-1 sku-1.json --redact
`;

const RECORD_HELP = `
Nothing is overwritten, and what the code does not replay is not recorded: the workflows of this package, and yours where
--workflows-path or --bundle names them. Commit the folder; in a pipeline, \`replay --golden DIR --workflows-path FILE\` replays all of it.

Example:
  $ temporal-media history record --query "WorkflowType = 'productFilm'" --to test/golden
`;
