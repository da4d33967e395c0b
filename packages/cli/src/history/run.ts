import { type LoadedRun, type RedactOptions, type ReplayCode, type Verdict } from '@temporal-media/replay';
import { historyToJson, historyToProtobuf } from '@temporal-media/replay/internal/history-codec';
import { nextLabel, recordGolden } from '@temporal-media/replay/internal/history-folder';
import { KEEPABLE, redactHistory } from '@temporal-media/replay/internal/redact-history';
import { replayHistories } from '@temporal-media/replay/internal/replay-histories';
import { given } from 'temporal-media/internal/domain/json';
import { codeFor } from '../replay/code';
import { loadTargets } from '../replay/load-targets';
import { type RecordOptions, type ExportOptions } from '../replay/options';
import { type CommandContext } from '../shared/context';
import { CliError } from '../shared/errors';
import { writeNamedFile } from '../shared/output-files';

/** `history record`: adds histories to a folder of golden histories that the code must replay. */
export async function recordHistories(
  context: CommandContext,
  targets: readonly string[],
  options: RecordOptions,
): Promise<void> {
  const { report } = context;
  const redaction = redactionOf(options);
  const code = await codeFor(options, context.env);
  const hasOwnCode = options.workflowsPath !== undefined || options.bundle !== undefined;
  const files: string[] = [];
  const refused: string[] = [];
  let unchecked = 0;
  for await (const target of loadTargets(context, targets, options)) {
    if ('error' in target) throw target.error;
    const verdicts: Verdict[] = [];
    for await (const { verdict } of replayHistories(code, target.runs)) verdicts.push(verdict);
    const wrong = verdicts.find((verdict) => verdict.verdict !== 'identical' && !isUnknown(verdict));
    const unknown = verdicts.some(isUnknown);
    if (wrong !== undefined || (unknown && hasOwnCode)) {
      refused.push(`${target.target} (${wrong?.verdict ?? 'the code does not contain this workflow'})`);
      continue;
    }
    if (unknown) unchecked += 1;
    const runs: LoadedRun[] = [];
    const label = redaction?.label ?? (await nextLabel(options.to, target.runs[0]?.workflowType ?? ''));
    for (const run of target.runs)
      runs.push(redaction === undefined ? run : await redactedRun(code, run, { ...redaction, label }));
    for (const file of await recordGolden(options.to, runs)) {
      files.push(file);
      report.result(file);
    }
  }
  report.say(`Recorded ${files.length} histories in ${options.to}.`);
  if (unchecked > 0)
    report.say(
      `${unchecked} workflows were not replayed because their code is unknown. Pass --workflows-path.`,
    );
  const data = { folder: options.to, files };
  if (refused.length === 0) return report.reply({ ok: true, data });
  throw new CliError(
    'replay_differs',
    `Not recorded, because the current code does not replay these histories: ${refused.join(', ')}.`,
    {
      hint: 'To see where the code differs, run `temporal-media replay`. Pass the code that wrote the history.',
      data,
    },
  );
}

const isUnknown = (verdict: Verdict): boolean =>
  verdict.verdict === 'not_replayed' && verdict.reason === 'unknown_workflow';

const LABEL = /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/;

/** Reads the redaction options. Undefined without `--redact`. @throws CliError `usage` */
function redactionOf({
  redact,
  keep,
  label,
}: Pick<RecordOptions, 'redact' | 'keep' | 'label'>): RedactOptions | undefined {
  if (redact !== true) {
    if (keep === undefined && label === undefined) return undefined;
    throw new CliError('usage', '--keep and --label require --redact.');
  }
  if (label !== undefined && !LABEL.test(label))
    throw new CliError(
      'usage',
      '--label must have 1 to 80 letters, digits, - or _, and begin with a letter or digit.',
    );
  const names = keep?.split(',').map((name) => name.trim()) ?? [];
  const unknown = names.filter((name) => !KEEPABLE.some((field) => field === name));
  if (unknown.length > 0)
    throw new CliError('usage', `--keep cannot be ${unknown.join(', ')}. Allowed: ${KEEPABLE.join(', ')}.`);
  return { keep: names as (typeof KEEPABLE)[number][], ...given({ label }) };
}

/** `history export`: writes one run's history to a file. */
export async function exportHistory(
  context: CommandContext,
  target: string,
  file: string,
  options: ExportOptions,
): Promise<void> {
  const { report } = context;
  const { runId } = options;
  const redaction = redactionOf(options);
  let run: LoadedRun | undefined;
  for await (const loaded of loadTargets(context, [target], options)) {
    if ('error' in loaded) throw loaded.error;
    run = loaded.runs.find((one) => one.runId === runId) ?? loaded.runs.at(-1);
  }
  if (run === undefined) throw new CliError('not_found', `${target} was not found.`);
  const label = redaction?.label ?? `${run.workflowType}-1`;
  const written =
    redaction === undefined
      ? run
      : await redactedRun(await codeFor(options, context.env), run, { ...redaction, label });
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
      'The payloads are decoded, so anyone with the file can read them. Use --keep-encrypted to keep them encoded.',
    );
  report.reply({
    ok: true,
    data: { file, workflowType: run.workflowType, events, redacted: options.redact === true },
  });
}

/** @throws CliError when the redacted history would give a different result */
async function redactedRun(code: ReplayCode, run: LoadedRun, options: RedactOptions): Promise<LoadedRun> {
  const redacted = redactHistory(run, code.bundle.code, options);
  const verdicts: Verdict[] = [];
  for await (const { verdict } of replayHistories(code, [run, redacted])) verdicts.push(verdict);
  const [before, after] = verdicts.map(shape);
  if (before === after) return redacted;
  throw new CliError(
    'bad_input',
    `The redacted history of ${run.workflowType} does not replay like the original: the workflow code depends on text that redaction replaced.`,
    { hint: 'Export it without --redact, and review the file before you share it.' },
  );
}

/** Returns the parts of a verdict that redaction must not change: its kind, and the event where the code differs. */
function shape(verdict: Verdict): string {
  if (verdict.verdict === 'inputs_differ') return 'identical ';
  return verdict.verdict === 'diverges'
    ? `diverges ${verdict.divergence.event?.eventId}`
    : `${verdict.verdict} ${verdict.verdict === 'not_replayed' ? verdict.reason : ''}`;
}
