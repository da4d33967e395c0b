import { recordGolden } from '../../replay/golden-histories';
import { historyToJson, historyToProtobuf } from '../../replay/history-codec';
import { type LoadedRun } from '../../replay/loaded-history';
import { redactHistory } from '../../replay/redact-history';
import { type ReplayCode, replayHistories } from '../../replay/replay-histories';
import { type Verdict } from '../../replay/verdict';
import { type RecordOptions, type ExportOptions } from '../commands/history';
import { type CommandContext } from '../context';
import { CliError } from '../errors';
import { writeNamedFile } from '../write-named-file';
import { codeFor } from './code-for';
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

/** `history export`: writes the history of one run to a file. */
export async function exportHistory(
  context: CommandContext,
  target: string,
  file: string,
  options: ExportOptions,
): Promise<void> {
  const { report } = context;
  const { runId } = options;
  let run: LoadedRun | undefined;
  for await (const loaded of loadTargets(context, [target], options)) {
    if ('error' in loaded) throw loaded.error;
    run = loaded.runs.find((one) => one.runId === runId) ?? loaded.runs.at(-1);
  }
  if (run === undefined) throw new CliError('not_found', `Nothing is known of ${target}.`);
  const written = options.redact === true ? await redactedRun(await codeFor(options), run) : run;
  const { history } = written;
  const data = file.endsWith('.json')
    ? `${JSON.stringify(historyToJson(history), null, 2)}\n`
    : historyToProtobuf(history);
  await writeNamedFile('file', file, data, { mode: 0o600 });
  const events = history.events?.length ?? 0;
  report.result(file);
  report.say(`${events} events of ${run.workflowType}${options.redact === true ? ', redacted' : ''}.`);
  if (run.decoded === true && options.redact !== true)
    report.say(
      'Its payloads are decoded: whoever has the file reads them. --keep-encrypted leaves them as they are.',
    );
  report.reply({
    ok: true,
    data: { file, workflowType: run.workflowType, events, redacted: options.redact === true },
  });
}

/** @throws CliError when the redacted history would tell another story */
export async function redactedRun(code: ReplayCode, run: LoadedRun): Promise<LoadedRun> {
  const redacted = redactHistory(run, code.bundle.code);
  const verdicts: Verdict[] = [];
  for await (const { verdict } of replayHistories(code, [run, redacted])) verdicts.push(verdict);
  const [before, after] = verdicts.map(shape);
  if (before === after) return redacted;
  throw new CliError(
    'bad_input',
    `The redacted history of ${run.workflowType} does not replay as the original does: its code compares a text that is not in the code.`,
    { hint: 'Export it without --redact, and look through it before you send it to anybody.' },
  );
}

/** What must be the same: the verdict, and the event at which the code differs. */
function shape(verdict: Verdict): string {
  if (verdict.verdict === 'inputs_differ') return 'identical ';
  return verdict.verdict === 'diverges'
    ? `diverges ${verdict.divergence.event?.eventId}`
    : `${verdict.verdict} ${verdict.verdict === 'not_replayed' ? verdict.reason : ''}`;
}
