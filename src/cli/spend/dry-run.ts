import { type MediaConfig } from '../../config';
import { type PaidRequest } from '../../domain/request';
import { formatMoney } from '../../domain/price';
import { type CommandContext } from '../command-context';
import { devInUse } from '../models/models-in-force';
import { judgeCall } from './judge-call';
import { type ShownRequest, shownRequest } from './shown-request';

/** `--dry-run`: the request as it would be sent and what it would cost. Sends nothing, starts nothing, needs no server. */
export async function showDryRun(
  { report }: CommandContext,
  paid: PaidRequest,
  config: MediaConfig,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { model, entry, estimate, source } = await judgeCall(paid, config, env);
  const baseUrl = config.baseUrl ?? (await devInUse(config, env))?.sandbox?.url;
  const request = await shownRequest(paid, entry, { baseUrl, policy: config.policy });
  for (const line of requestLines(request)) report.result(line);
  report.result('');
  report.result(`estimate: ${estimate === null ? 'unknown' : formatMoney(estimate)}`);
  report.result(
    model === 'entry'
      ? `model: checked against its entry in ${source.location ?? ''}`
      : 'model: not in a configuration, so its values were not checked',
  );
  report.say('Dry run: nothing was sent and nothing was started.');
  report.reply({ ok: true, data: { dryRun: true, request, estimate, model, source } });
}

function requestLines({ method, baseUrl, path, headers, body, parts }: ShownRequest): string[] {
  const origin = baseUrl === null ? '' : new URL(baseUrl).origin;
  const lines = [`${method} ${origin}${path}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  lines.push('');
  if (body !== undefined) lines.push(JSON.stringify(body, null, 2));
  for (const part of parts ?? [])
    lines.push(
      'file' in part
        ? `${part.name}: ${part.file} as ${part.fileName} (${part.mediaType})`
        : `${part.name}: ${part.value}`,
    );
  return lines;
}
