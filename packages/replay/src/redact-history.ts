import {
  defaultPayloadConverter,
  encodingTypes,
  METADATA_ENCODING_KEY,
  type Payload,
} from '@temporalio/common';
import { type History } from '@temporalio/common/lib/proto-utils';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { FAILURE_TABLE } from 'temporal-media/internal/domain/failure-table';
import { isMediaWorkflow, VERSION_MEMO } from 'temporal-media/internal/domain/names';
import { POLL_ERROR_CLASSES } from 'temporal-media/internal/domain/poll-answers';
import { encodingOf, isPayload, payloadsIn } from './decode-payloads';
import { historyFromProtobuf, historyToProtobuf } from './history-codec';
import { type LoadedRun } from './loaded-history';
import { Pseudonyms } from './pseudonyms';
import { versionIn } from './verdict';

/** Format of the ids that the SDK assigns in command order. */
const COUNTED = /^\d{1,6}$/;
/**
 * Fields that keep their text if it has the format that the server or the SDK generates. Text in any other format was
 * chosen by a person. All other text in an event is replaced, even in fields that future servers add.
 */
const KEPT: Readonly<Record<string, RegExp>> = {
  timerId: COUNTED,
  activityId: COUNTED,
  markerName: /^core_[a-z_]{1,40}$/,
  sdkName: /^temporal-[a-z]{1,12}$/,
  sdkVersion: /^\d+\.\d+\.\d+$/,
};
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Fields with the random name that a workflow generates for a paid activity. A replay generates the same name. */
const RANDOM: ReadonlySet<string> = new Set(['sender']);

/** Map keys and marker field names that the SDK writes and reads. */
const WORDS_OF_THE_SDK: readonly string[] = [
  'TemporalChangeVersion',
  'BuildIds',
  'patch-data',
  'data',
  'result',
  'id',
  'deprecated',
  'seq',
  'attempt',
  'activity_id',
  'activity_type',
  'complete_time',
  'original_schedule_time',
  'backoff',
  'seconds',
  'nanos',
];

/** Fields with text that a person wrote. It is replaced even if it happens to be a word from the code. */
const SENTENCES: ReadonlySet<string> = new Set(['message', 'reason', 'source']);

/** Fields that a replay does not need: addresses with headers, and text for display only. */
const DROPPED: ReadonlySet<string> = new Set([
  'completionCallbacks',
  'links',
  'nexusHeader',
  'principal',
  'memo',
  'upsertedMemo',
  'stackTrace',
  'declinedTargetVersionUpgrade',
]);

const ENCODINGS: ReadonlySet<string> = new Set(Object.values(encodingTypes));
/** The payload metadata key for a search attribute's type, and the possible types. */
const SEARCH_TYPE = 'type';
const SEARCH_TYPES: readonly string[] = [
  'Keyword',
  'KeywordList',
  'Text',
  'Int',
  'Double',
  'Bool',
  'Datetime',
];
/** A Datetime value as the server writes it, in quotes. */
const DATETIME = /^"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)"$/;

/**
 * Payload fields that a redacted history can keep unchanged. They contain facts about an order, but never its prompt or
 * an address.
 */
export const KEEPABLE = [
  'model',
  'currency',
  'account',
  'resolution',
  'aspectRatio',
  'size',
  'quality',
  'status',
] as const;

/** The format that a kept value must have. Any other text could be a sentence, or an address with a signature. */
const WORD = /^(?=.{1,64}$)[\w.:@+-]+(\/[\w.:@+-]+)*$/;

/** Options for what a redacted history keeps. */
export interface RedactOptions {
  /** Readable name that replaces the workflow id. @default `redacted-N` */
  readonly label?: string;
  /** Payload fields whose text is kept wherever they occur. @default none */
  readonly keep?: readonly (typeof KEEPABLE)[number][];
}

/**
 * Returns a history that replays as before but does not reveal what was made, by whom or where. Keeps numbers, times,
 * durations, the structure, this package's reasons, and the workflow code's literals, because the code may compare
 * them. Replaces all other strings, including the workflow id inside other ids. Equal strings get the same pseudonym.
 * @param code the bundle's code
 */
export function redactHistory(
  run: LoadedRun,
  code: string,
  { label, keep = [] }: RedactOptions = {},
): LoadedRun {
  // A copy, because the caller keeps the original.
  const history = historyFromProtobuf(historyToProtobuf(run.history));
  const names = new Pseudonyms(code, commonId(run));
  for (const id of serverIds(history)) names.keep(id);
  if (label !== undefined) names.label(label);
  const fields: ReadonlySet<string> = new Set(keep);
  for (const payload of payloadsIn(history)) {
    const value = jsonOf(payload);
    for (const text of textsOf(value, fields)) if (WORD.test(text)) names.keep(text);
    for (const text of textsOf(value, RANDOM)) if (UUID.test(text)) names.keep(text);
  }
  for (const word of [...PUBLIC_WORDS, ...WORDS_OF_THE_SDK]) names.keep(word);
  const redaction = new Redaction(names);
  // Our workflows' summaries do not reveal content. A start event's summary comes from the caller.
  const isOurs = isMediaWorkflow(run.workflowType);
  for (const event of history.events ?? [])
    redaction.apply(
      event as Record<string, unknown>,
      isOurs && event.workflowExecutionStartedEventAttributes == null,
    );
  return { ...run, workflowId: names.word(run.workflowId), history: history satisfies History };
}

/** The part of the workflow id that other ids share: a child's id contains its parent's. */
function commonId({ workflowId, history }: LoadedRun): string {
  const parent =
    history.events?.[0]?.workflowExecutionStartedEventAttributes?.parentWorkflowExecution?.workflowId ?? '';
  return parent !== '' && workflowId.includes(parent) ? parent : workflowId;
}

/** Yields run ids, which can stay: workflow code compares them, and the server generates them randomly. */
function* serverIds(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  for (const [field, inner] of Object.entries(value))
    if (/runId$/i.test(field) && typeof inner === 'string' && UUID.test(inner)) yield inner;
    else yield* serverIds(inner);
}

class Redaction {
  constructor(readonly names: Pseudonyms) {}

  /** @param summaries whether to keep this event's summary */
  apply(object: Record<string, unknown>, summaries: boolean): void {
    for (const [field, value] of Object.entries(object)) {
      if (value == null) continue;
      if (DROPPED.has(field)) object[field] = field === 'memo' ? keptOf(value) : emptied(value);
      else if (field !== 'userMetadata') object[field] = this.#of(field, value);
      else if (!summaries) object[field] = null;
    }
  }

  #of(field: string, value: unknown): unknown {
    if (typeof value === 'string') return this.#text(field, value);
    if (Array.isArray(value)) return value.map((one) => this.#of(field, one));
    if (value instanceof Uint8Array) return new Uint8Array();
    if (typeof value !== 'object' || value === null || isLong(value)) return value;
    if (isPayload(value)) return this.#payload(value);
    // A plain object is a map: a protobuf message has its own class.
    if (Object.getPrototypeOf(value) === Object.prototype)
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [this.names.word(name), this.#of('', inner)]),
      );
    this.apply(value as Record<string, unknown>, false);
    return value;
  }

  #text(field: string, text: string): string {
    if (text === '' || KEPT[field]?.test(text) === true) return text;
    return SENTENCES.has(field) ? this.names.hidden(text) : this.names.word(text);
  }

  #payload(payload: Payload): Payload {
    const given = encodingOf(payload);
    const encoding = ENCODINGS.has(given) ? given : encodingTypes.METADATA_ENCODING_RAW;
    // Workflow code can read a search attribute, and the SDK uses this type to decode it.
    const type = Buffer.from(payload.metadata?.[SEARCH_TYPE] ?? []).toString();
    const metadata = {
      [METADATA_ENCODING_KEY]: Buffer.from(encoding),
      ...(SEARCH_TYPES.includes(type) && { [SEARCH_TYPE]: Buffer.from(type) }),
    };
    const isTime = type === 'Datetime' && DATETIME.test(Buffer.from(payload.data ?? []).toString());
    if (isTime) return { metadata, data: payload.data ?? null };
    if (payload.data == null || payload.data.length === 0) return { metadata, data: payload.data ?? null };
    const value = jsonOf(payload);
    // Data that cannot be read is not kept.
    const data = value === undefined ? 'redacted' : JSON.stringify(this.names.in(value));
    return { metadata, data: Buffer.from(data) };
  }
}

/** Returns a payload's value; undefined if it is not JSON. */
function jsonOf(payload: Payload): unknown {
  const encoding = encodingOf(payload);
  if (
    encoding !== encodingTypes.METADATA_ENCODING_JSON &&
    encoding !== encodingTypes.METADATA_ENCODING_PROTOBUF_JSON
  )
    return undefined;
  try {
    return JSON.parse(Buffer.from(payload.data ?? []).toString('utf8'));
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** Yields the strings in these fields at any depth. */
function* textsOf(value: unknown, fields: ReadonlySet<string>): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value))
    if (fields.has(name) && typeof inner === 'string') yield inner;
    else yield* textsOf(inner, fields);
}

/** Reduces a memo to this package's version, which reports show. */
function keptOf(memo: Parameters<typeof versionIn>[0]): object {
  const version = versionIn(memo);
  return { fields: version === null ? {} : { [VERSION_MEMO]: defaultPayloadConverter.toPayload(version) } };
}

/** Returns an empty value of the same kind, so that the field still exists. */
function emptied(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return [];
  const { fields, indexedFields } = value as { readonly fields?: unknown; readonly indexedFields?: unknown };
  if (fields !== undefined) return { fields: {} };
  return indexedFields === undefined ? null : { indexedFields: {} };
}

/** Whether a value is a 64-bit integer. */
const isLong = (value: object): boolean => 'low' in value && 'high' in value;

/** The causes that the service client reports for creates with an unknown outcome. */
const CAUSES = [
  'connection_lost_after_send',
  'timeout_after_send',
  'reply_not_http',
  'reply_too_large',
  'reply_truncated',
  'reply_unreadable',
  'reply_without_id',
  'http_500',
  'http_502',
  'http_503',
  'http_504',
];

/**
 * Values with which this package reports why something ended, failed or is unknown. They are kept, because they reveal
 * no content and a redacted history would be useless without them.
 */
const PUBLIC_WORDS: readonly string[] = [
  ...FAILURE_TABLE.flatMap(({ type }) => type.split('/')),
  ...POLL_ERROR_CLASSES,
  ...CAUSES,
];
