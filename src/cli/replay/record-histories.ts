import { recordGolden } from '../../replay/golden-histories';
import { type LoadedRun } from '../../replay/loaded-history';
import { type RecordOptions } from '../commands/history';
import { type CommandContext } from '../context';
import { codeFor } from './code-for';
import { redactedRun } from './export-history';
import { loadTargets } from './load-targets';

/** `history record`: adds histories to a folder of golden histories. */
export async function recordHistories(
  context: CommandContext,
  targets: readonly string[],
  options: RecordOptions,
): Promise<void> {
  const { report } = context;
  const code = options.redact === true ? await codeFor(options) : undefined;
  const files: string[] = [];
  for await (const target of loadTargets(context, targets, options)) {
    if ('error' in target) throw target.error;
    const runs: LoadedRun[] = [];
    for (const run of target.runs) runs.push(code === undefined ? run : await redactedRun(code, run));
    for (const file of await recordGolden(options.to, runs)) {
      files.push(file);
      report.result(file);
    }
  }
  report.say(`${files.length} histories recorded in ${options.to}.`);
  report.reply({ ok: true, data: { folder: options.to, files } });
}
