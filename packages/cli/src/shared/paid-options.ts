import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { type Command } from 'commander';
import {
  type JsonValue,
  type PollingMode,
  type MediaSource,
  type ReferenceKind,
  type VideoReference,
  type DurationInput,
} from 'temporal-media';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { type Fairness, fairnessValue, type Labels, labelsCheck } from 'temporal-media/internal/domain/money';
import { milliseconds } from 'temporal-media/internal/domain/shape';
import { ArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { type IngestedFile, ingestFile } from 'temporal-media/internal/stores/artifacts/user-files';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import { type ArtifactStore } from 'temporal-media/stores';
import { type SpendOptions } from './before-send';
import { collect, type CommonOptions, withCommonOptions } from './context';
import { badInput, CliError } from './errors';

/** Options of every command that may cost money. */
export interface PaidOptions extends CommonOptions, SpendOptions, LabelOptions {
  readonly model: string;
  readonly prompt: string;
  readonly field?: readonly string[];
  readonly account?: string;
  readonly id?: string;
  readonly out: string;
  readonly detach?: boolean;
  readonly again?: boolean;
}

/** Options that say for whom a call is made, and who shares the queues' capacity. */
export interface LabelOptions {
  readonly label?: readonly string[];
  readonly priority?: string;
  readonly fairness?: string;
}

export function withLabelOptions(command: Command): Command {
  return command
    .option(
      '--label <name=value>',
      'label for reports and limits, such as tenant=acme; can be repeated',
      collect,
    )
    .option('--priority <number>', 'from 1 to 5; lower numbers go first (default: 3)')
    .option(
      '--fairness <label:name>',
      'share the capacity of task queues fairly between the values of a label',
    );
}

/** @throws CliError for invalid labels */
export function labelsOf({ label = [] }: LabelOptions): Labels | undefined {
  const labels = readPairs('--label', label);
  if (labels.size === 0) return undefined;
  const read = Object.fromEntries(labels);
  const issue = labelsCheck(read, '--label');
  if (issue !== undefined) throw badInput([issue]);
  return read;
}

/** @throws CliError for an invalid priority, or a label that the call does not have */
export function priorityOf(
  { priority, fairness }: LabelOptions,
  labels: Labels | undefined,
): { readonly priority?: number; readonly fairness?: Fairness } {
  if (priority !== undefined && !/^[1-5]$/.test(priority))
    throw badInput([{ field: '--priority', message: 'must be a number from 1 to 5.' }]);
  if (fairness !== undefined && fairnessValue(fairness as Fairness, labels) === undefined)
    throw badInput([
      {
        field: '--fairness',
        message: 'must be label:NAME with the name of a --label, such as label:tenant.',
      },
    ]);
  return given({
    priority: priority === undefined ? undefined : Number(priority),
    fairness: fairness as Fairness | undefined,
  });
}

/** Returns the Temporal options of a paid start. @throws CliError */
export function howOf(options: LabelOptions) {
  const { priority: priorityKey, fairness } = priorityOf(options, labelsOf(options));
  return given({ priority: priorityKey === undefined ? undefined : { priorityKey }, fairness });
}

/** Returns the start options shared by every command that starts a paid workflow. @throws CliError */
export function startOf({ account, again, ...options }: Pick<PaidOptions, 'account' | 'again' | 'label'>) {
  return {
    ...given({ account, labels: labelsOf(options) }),
    refuseWhileUnconfirmed: again !== true,
    ...(again === true && { again: true }),
  };
}

/** Adds the options that limit a paid command's spending. */
export function withSpendOptions(command: Command): Command {
  return command
    .option('--dry-run', 'show the request and the estimate without sending anything; needs no server')
    .option(
      '--max-spend <amount>',
      'require confirmation for a start that may cost more: 0.50, 0.50USD (default: MEDIA_MAX_SPEND)',
    )
    .option('-y, --yes', 'accept a cost that is above --max-spend or unknown')
    .option(
      '--again',
      'send a request that was already rejected under this id, or that is unconfirmed under another id',
    );
}

/** Options for a decision about a call with an unknown outcome. */
export interface DecideOptions extends CommonOptions {
  readonly reason: string;
  readonly by?: string;
  readonly send?: string;
  readonly yes?: boolean;
}

/** Adds the options that say who makes a decision, why, and about which send. */
export function withDecisionOptions(command: Command): Command {
  return withCommonOptions(
    command
      .requiredOption('--reason <text>', 'reason for the decision, recorded in the journal')
      .option('--by <name>', 'person who decides, recorded in the journal (default: current user)')
      .option(
        '--send <id>',
        'id of the send that was checked, from its evidence (default: the current unconfirmed send)',
      ),
  );
}

/** Help text about money, for every paid command. */
export const SPEND_HELP = `
Estimates come from the model configuration's price rules (see \`temporal-media models\`). Without a rule, the estimate is
unknown, never 0. With --max-spend, a start whose estimate is higher or unknown must be confirmed, even for an id
that was already bought. Without a terminal, the command exits with code 6.
While the same request is unconfirmed under another id, nothing is sent (exit code 7). Settle that call first
(\`temporal-media unconfirmed\`), or pass --again. If the service rejected a request, you can send it again under the same id
after correcting it, or unchanged with --again.
`;

const LONGEST_ID = 200;

/** Returns the given id or a new one. It is the workflow id, the creation key and the file name. @throws CliError */
export function idOf(given: string | undefined, kind: string): string {
  if (given === undefined) return `${kind}-${randomUUID()}`;
  // eslint-disable-next-line no-control-regex
  if (given.trim() !== '' && given.length <= LONGEST_ID && !/[\u0000-\u001f\u007f]/.test(given)) return given;
  const message = `must have 1 to ${LONGEST_ID} characters without control characters.`;
  throw badInput([{ field: '--id', message }]);
}

/** @throws CliError for an invalid duration */
export function waitForOf(text: string | undefined): DurationInput | undefined {
  if (text === undefined) return undefined;
  if (durationOf(text) !== undefined) return text;
  throw badInput([
    { field: '--wait-for', message: 'must be a duration with a unit, such as 90s, 15m, 2h or 3d.' },
  ]);
}

/** Help text for `--polling`. */
export const POLLING_HELP =
  "who polls: own (the video's workflow) or shared (one workflow for many videos); default: the worker's MEDIA_POLLING, or own";

/** @throws CliError for any other word */
export function pollingOf(text: string | undefined): PollingMode | undefined {
  if (text === undefined || text === 'own' || text === 'shared') return text;
  throw badInput([{ field: '--polling', message: 'must be own or shared.', allowed: ['own', 'shared'] }]);
}

/** Converts a duration to milliseconds. */
export function waitMsOf(waitFor: DurationInput | undefined): number | undefined {
  return waitFor === undefined ? undefined : durationOf(String(waitFor));
}

/** Converts text to a number or NaN. The domain's rules validate it. */
export function numberOption(text: string | undefined): number | undefined {
  return text === undefined ? undefined : text.trim() === '' ? NaN : Number(text);
}

/** Reads `--field NAME=VALUE`. JSON values are sent as JSON, all others as text. @throws CliError */
export function readFields(values: readonly string[] = []): { [name: string]: JsonValue } | undefined {
  if (values.length === 0) return undefined;
  const fields = [...readPairs('--field', values)].map(([name, value]) => [name, jsonOrText(value)]);
  return Object.fromEntries(fields) as { [name: string]: JsonValue };
}

/** @throws CliError for a value without a name, or a name that occurs twice */
function readPairs(field: string, values: readonly string[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const value of values) {
    const equals = value.indexOf('=');
    if (equals < 1) throw badInput([{ field, message: 'must have the form NAME=VALUE.' }]);
    const name = value.slice(0, equals);
    if (pairs.has(name)) throw badInput([{ field, message: `must not set ${name} twice.` }]);
    pairs.set(name, value.slice(equals + 1));
  }
  return pairs;
}

function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throwBug(error);
    return text;
  }
}

/** Converts a duration with a unit, such as 90s or 3d, to milliseconds. Undefined for any other text. */
export function durationOf(text: string): number | undefined {
  return /[a-z]/i.test(text) ? milliseconds(text) : undefined;
}

/** Stores the bytes of an input, or only measures them if nothing will be sent. */
type InputStore = Pick<ArtifactStore, 'putStream'>;

const KINDS: readonly ReferenceKind[] = ['image', 'video', 'audio'];
const FORM = 'must have the form KIND=FILE_OR_URL or KIND:FIELD=FILE_OR_URL.';

/** Reads `--reference` values. Stores files by hash and keeps URLs unchanged. @throws CliError */
export async function readReferenceOptions(
  store: InputStore,
  values: readonly string[],
): Promise<VideoReference[]> {
  return Promise.all(values.map((value) => readReference(store, value)));
}

async function readReference(store: InputStore, value: string): Promise<VideoReference> {
  const equals = value.indexOf('=');
  if (equals < 1) throw badInput([{ field: '--reference', message: FORM, allowed: KINDS }]);
  const [kind = '', field] = value.slice(0, equals).split(':', 2);
  if (!isKind(kind)) throw badInput([{ field: '--reference', message: FORM, allowed: KINDS }]);
  const source = await readSourceOption(store, '--reference', kind, value.slice(equals + 1));
  return { kind, source, ...(field !== undefined && field !== '' && { field }) };
}

/**
 * Reads a file or URL from the user. Rejects files whose content is not an image, video or audio, so that a request
 * cannot send arbitrary files from this machine to the service.
 */
export async function readSourceOption(
  store: InputStore,
  option: string,
  kind: ReferenceKind,
  value: string,
): Promise<MediaSource> {
  if (/^(https?:\/\/|data:)/i.test(value)) return { url: value };
  let found: IngestedFile;
  try {
    // Follows links, because the user named the file. The store does not follow them.
    found = await ingestFile(store, await realpath(value));
  } catch (error) {
    throw inputError(option, value, error);
  }
  if (found.kind !== kind) {
    const message = `File ${value} contains ${article(found.kind)}, not ${article(kind)}.`;
    throw badInput([{ field: option, message }]);
  }
  return { artifact: found.artifact };
}

function inputError(option: string, path: string, error: unknown): CliError {
  if (error instanceof ArtifactError) {
    if (error.code === 'not_media') {
      const message = `The content of ${path} is not an image, a video or audio. It was not sent.`;
      return badInput([{ field: option, message }]);
    }
    if (error.code === 'not_readable' || error.code === 'too_large') {
      return badInput([{ field: option, message: `File ${path} cannot be used: ${error.message}` }]);
    }
    const message = `${option}: the file could not be stored. ${error.message}`;
    return new CliError(`artifacts/${error.code}`, message, { hint: error.hint });
  }
  const code = systemCode(error);
  const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  return badInput([
    { field: option, message: `File ${path} ${reason}. A URL must start with https:// or http://.` },
  ]);
}

function isKind(text: string): text is ReferenceKind {
  return (KINDS as readonly string[]).includes(text);
}

function article(kind: ReferenceKind): string {
  return kind === 'video' ? 'a video' : kind === 'image' ? 'an image' : 'audio';
}
