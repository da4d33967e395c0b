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
import { milliseconds } from 'temporal-media/internal/domain/shape';
import { ArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { type IngestedFile, ingestFile } from 'temporal-media/internal/stores/artifacts/user-files';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import { type ArtifactStore } from 'temporal-media/stores';
import { type SpendOptions } from './before-send';
import { type CommonOptions, withCommonOptions } from './context';
import { badInput, CliError } from './errors';

/** Options of every command that may cost money. */
export interface PaidOptions extends CommonOptions, SpendOptions {
  readonly model: string;
  readonly prompt: string;
  readonly field?: readonly string[];
  readonly account?: string;
  readonly id?: string;
  readonly out: string;
  readonly detach?: boolean;
  readonly again?: boolean;
}

/** The options shared by every command that starts a paid workflow. */
export function startOf({ account, again }: Pick<PaidOptions, 'account' | 'again'>) {
  return {
    ...given({ account }),
    refuseWhileUnconfirmed: again !== true,
    ...(again === true && { again: true }),
  };
}

/** Adds the options that control what a paid command may spend. */
export function withSpendOptions(command: Command): Command {
  return command
    .option('--dry-run', 'show the request and the estimate; sends nothing and needs no server')
    .option(
      '--max-spend <amount>',
      'ask before a start that may cost more: 0.50, 0.50USD (default: MEDIA_MAX_SPEND)',
    )
    .option('-y, --yes', 'agree to a cost that is above --max-spend or unknown')
    .option(
      '--again',
      'send a request that was refused under this id before, or is unconfirmed under another',
    );
}

/** Options for a person's decision about a call with an unknown outcome. */
export interface DecideOptions extends CommonOptions {
  readonly reason: string;
  readonly by?: string;
  readonly send?: string;
  readonly yes?: boolean;
}

/** Adds the options that say which call the decision is about, who makes it, and why. */
export function withDecisionOptions(command: Command): Command {
  return withCommonOptions(
    command
      .requiredOption('--reason <text>', 'why; kept in the journal')
      .option('--by <name>', 'who decides; kept in the journal (default: the user of this process)')
      .option(
        '--send <id>',
        'the send that was checked, as its evidence names it (default: the current send of unknown fate)',
      ),
  );
}

/** Help text about money, for every paid command. */
export const SPEND_HELP = `
Estimates come from the price rules of the model configuration (see \`temporal-media models\`); without a rule they are
unknown, never 0. With --max-spend, a start whose estimate is higher or unknown asks at a terminal, also for an id that
was bought before; without a terminal it ends with exit code 6.
While the same request is unconfirmed under another id, nothing is sent (exit code 7): settle that one first
(\`temporal-media unconfirmed\`), or pass --again. A request that the service refused is sent again under its id once it
is corrected, or unchanged with --again.
`;

const LONGEST_ID = 200;

/** The given id, or a new one: it is the workflow id, the creation key and the name of the files. @throws CliError */
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
    { field: '--wait-for', message: 'must be a duration with its unit, such as 90s, 15m, 2h or 3d.' },
  ]);
}

/** Text of the option `--polling`. */
export const POLLING_HELP =
  'who polls: own (its workflow) or shared (one workflow for many videos); default: MEDIA_POLLING of the worker, else own';

/** @throws CliError for any other word */
export function pollingOf(text: string | undefined): PollingMode | undefined {
  if (text === undefined || text === 'own' || text === 'shared') return text;
  throw badInput([{ field: '--polling', message: 'must be own or shared.', allowed: ['own', 'shared'] }]);
}

/** A duration in milliseconds. */
export function waitMsOf(waitFor: DurationInput | undefined): number | undefined {
  return waitFor === undefined ? undefined : durationOf(String(waitFor));
}

/** Converts text to a number or NaN; the domain's rules validate it. */
export function numberOption(text: string | undefined): number | undefined {
  return text === undefined ? undefined : text.trim() === '' ? NaN : Number(text);
}

/** Reads `--field NAME=VALUE`: a JSON value is sent as JSON, any other as text. @throws CliError */
export function readFields(values: readonly string[] = []): { [name: string]: JsonValue } | undefined {
  if (values.length === 0) return undefined;
  const fields = new Map<string, JsonValue>();
  for (const value of values) {
    const equals = value.indexOf('=');
    if (equals < 1) throw badInput([{ field: '--field', message: 'A field has the form NAME=VALUE.' }]);
    const name = value.slice(0, equals);
    if (fields.has(name)) throw badInput([{ field: '--field', message: `${name} is given twice.` }]);
    fields.set(name, jsonOrText(value.slice(equals + 1)));
  }
  return Object.fromEntries(fields);
}

function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throwBug(error);
    return text;
  }
}

/** Milliseconds of a duration with its unit, such as 90s or 3d; undefined for anything else. */
export function durationOf(text: string): number | undefined {
  return /[a-z]/i.test(text) ? milliseconds(text) : undefined;
}

/** Stores the bytes of an input, or only measures them if nothing will be sent. */
type InputStore = Pick<ArtifactStore, 'putStream'>;

const KINDS: readonly ReferenceKind[] = ['image', 'video', 'audio'];
const FORM = 'A reference is KIND=FILE_OR_URL, or KIND:FIELD=FILE_OR_URL.';

/** Reads `--reference` values: files are stored by hash, URLs are kept unchanged. @throws CliError */
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
 * Reads one file or URL of the user. A file whose bytes are not an image, video or audio is refused, so that a request
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
    // Links are followed here, because the user named the file. The store does not follow them.
    found = await ingestFile(store, await realpath(value));
  } catch (error) {
    throw inputError(option, value, error);
  }
  if (found.kind !== kind) {
    const message = `The content of the file ${value} is ${article(found.kind)}, not ${article(kind)}.`;
    throw badInput([{ field: option, message }]);
  }
  return { artifact: found.artifact };
}

function inputError(option: string, path: string, error: unknown): CliError {
  if (error instanceof ArtifactError) {
    if (error.code === 'not_media') {
      const message = `The file ${path} is not an image, a video or audio by its content. It was not sent.`;
      return badInput([{ field: option, message }]);
    }
    if (error.code === 'not_readable' || error.code === 'too_large') {
      return badInput([{ field: option, message: `The file ${path} cannot be used: ${error.message}` }]);
    }
    const message = `${option}: the file could not be stored. ${error.message}`;
    return new CliError(`artifacts/${error.code}`, message, { hint: error.hint });
  }
  const code = systemCode(error);
  const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  return badInput([
    { field: option, message: `The file ${path} ${reason}. A URL starts with https:// or http://.` },
  ]);
}

function isKind(text: string): text is ReferenceKind {
  return (KINDS as readonly string[]).includes(text);
}

function article(kind: ReferenceKind): string {
  return kind === 'video' ? 'a video' : kind === 'image' ? 'an image' : 'audio';
}
