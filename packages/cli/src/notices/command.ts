import { type Command } from 'commander';
import { ConfigurationError } from 'temporal-media/internal/settings/config';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
  withCommonOptions,
} from '../shared/context';
import { CliError } from '../shared/errors';
import { textTable } from '../shared/progress-view';

/** Adds `notices test`, which sends a signed test notice to each endpoint in MEDIA_NOTIFY. */
export function addNoticesCommand(program: Command, context: CommandContext): void {
  const notices = program.command('notices').description('signed webhooks about calls (MEDIA_NOTIFY)');
  withCommonOptions(notices.command('test'))
    .description('send a signed test notice to each endpoint, once and from this machine')
    .addHelpText('after', HELP)
    .action(async (options: CommonOptions) => testNotices(context, options));
}

const HELP = `
Needs the worker's MEDIA_NOTIFY and secret files, but no worker and no Temporal server.

Examples:
  $ MEDIA_NOTIFY=notify.json temporal-media notices test
`;

async function testNotices(context: CommandContext, options: CommonOptions): Promise<void> {
  const { report } = context;
  const env = effectiveEnvironment(context, options);
  const { taskQueue } = effectiveConfig(context, options);
  const { testEndpoints } = await import('@temporal-media/notices');
  const namespace = env['TEMPORAL_NAMESPACE'] || 'default';
  const endpoints = await testEndpoints({ namespace, taskQueue }, env);
  if (endpoints.length === 0)
    throw new ConfigurationError('MEDIA_NOTIFY', 'is not set, or names no endpoint.');
  const rows = endpoints.map(({ endpoint, origin, message }) => [endpoint, origin, message]);
  for (const line of textTable([['ENDPOINT', 'ORIGIN', 'RESULT'], ...rows])) report.result(line);
  const refused = endpoints.filter(({ taken }) => !taken).length;
  if (refused > 0)
    throw new CliError(
      'service_unreachable',
      `${refused} of ${endpoints.length} endpoints did not take the test.`,
      {
        hint: 'Fix the endpoint or its entry in MEDIA_NOTIFY. Workers send each notice again for three days.',
        data: { endpoints },
      },
    );
  report.reply({ ok: true, data: { endpoints } });
}
