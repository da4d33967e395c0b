import { throwBug } from '../domain/bug';
import { type History } from '@temporalio/common/lib/proto-utils';
import {
  defaultPayloadConverter,
  encodingTypes,
  METADATA_ENCODING_KEY,
  type Payload,
} from '@temporalio/common';
import { VERSION_MEMO } from '../domain/version';
import { MEDIA_WORKFLOWS } from '../worker/registered-names';
import { type LoadedRun } from './loaded-history';
import { encodingOf, isPayload } from './payloads';
import { historyFromProtobuf, historyToProtobuf } from './history-codec';
import { Pseudonyms } from './pseudonyms';
import { PUBLIC_WORDS } from './public-words';
import { versionIn } from './written-by';

/**
 * Names of fields whose text stays: ids that a server makes, names that the workflow code has, and versions. Every other
 * text of an event is replaced, also in fields that do not exist yet.
 */
const KEPT: ReadonlySet<string> = new Set([
  'timerId',
  'activityId',
  'markerName',
  'signalName',
  'queryType',
  'changeId',
  'protocolInstanceId',
  'requestId',
  'cronSchedule',
  'runId',
  'originalExecutionRunId',
  'firstExecutionRunId',
  'continuedExecutionRunId',
  'newExecutionRunId',
  'baseRunId',
  'newRunId',
  'sdkName',
  'sdkVersion',
  'buildId',
  'updateId',
  'acceptedRequestMessageId',
  'rejectedRequestMessageId',
]);

/** Fields with a name of the code: `{name}`. */
const NAMED: ReadonlySet<string> = new Set(['activityType', 'workflowType']);

/** Fields of what somebody wrote, also where it happens to be a word of the code. */
const SENTENCES: ReadonlySet<string> = new Set(['message', 'reason', 'source']);

/** Fields that no replay needs: addresses with headers, and what is shown. */
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

/** Key of the type of a search attribute in the metadata of its payload, and its values. */
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
/** What the server writes for a Datetime, with its quotes. */
const DATETIME = /^"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)"$/;

/**
 * A history that says nothing about what was made, by whom and where, and replays as before. Texts that are literals of
 * the workflow code stay, because the code may compare them, and reasons of this package; all others are replaced, equal ones by equal ones. Numbers,
 * times, durations, the structure and the workflow id inside of other ids are kept consistent.
 * @param code of the bundle
 */
export function redactHistory(run: LoadedRun, code: string): LoadedRun {
  // A copy: the caller keeps the original.
  const history = historyFromProtobuf(historyToProtobuf(run.history));
  const names = new Pseudonyms(code, commonId(run));
  for (const id of serverIds(history)) names.keep(id);
  for (const word of PUBLIC_WORDS) names.keep(word);
  const redaction = new Redaction(names, MEDIA_WORKFLOWS.includes(run.workflowType));
  for (const event of history.events ?? []) redaction.apply(event as Record<string, unknown>);
  return { ...run, workflowId: redaction.names.of(run.workflowId), history: history satisfies History };
}

/** The part of the workflow id that other ids have too: those of children contain the id of their parent. */
function commonId({ workflowId, history }: LoadedRun): string {
  const parent =
    history.events?.[0]?.workflowExecutionStartedEventAttributes?.parentWorkflowExecution?.workflowId ?? '';
  return parent !== '' && workflowId.includes(parent) ? parent : workflowId;
}

/** Ids of runs, which workflow code compares and a server makes at random. */
function* serverIds(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  for (const [field, inner] of Object.entries(value))
    if (/runId$/i.test(field) && typeof inner === 'string' && inner !== '') yield inner;
    else yield* serverIds(inner);
}

class Redaction {
  /** @param summaries whether summaries stay: those of our workflows name no content */
  constructor(
    readonly names: Pseudonyms,
    private readonly summaries: boolean,
  ) {}

  apply(object: Record<string, unknown>): void {
    const marker = object['markerRecordedEventAttributes'] as
      | { readonly markerName?: string }
      | null
      | undefined;
    for (const [field, value] of Object.entries(object)) {
      if (value == null) continue;
      // The SDK reads the ids of patches in it.
      if (field === 'markerRecordedEventAttributes' && marker?.markerName?.startsWith('core_') === true)
        continue;
      if (field === 'userMetadata' && this.summaries) continue;
      if (DROPPED.has(field)) object[field] = field === 'memo' ? keptOf(value) : emptied(value);
      else object[field] = this.#of(field, value);
    }
  }

  #of(field: string, value: unknown): unknown {
    if (typeof value === 'string') return this.#text(field, value);
    if (Array.isArray(value)) return value.map((one) => this.#of(field, one));
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
    if (isLong(value) || NAMED.has(field)) return value;
    if (isPayload(value)) return this.#payload(value);
    if (field === 'fields' || field === 'indexedFields')
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [this.names.of(name), this.#of('', inner)]),
      );
    this.apply(value as Record<string, unknown>);
    return value;
  }

  #text(field: string, text: string): string {
    if (text === '' || KEPT.has(field)) return text;
    return SENTENCES.has(field) ? this.names.hidden(text) : this.names.of(text);
  }

  #payload(payload: Payload): Payload {
    const encoding = encodingOf(payload);
    // Workflow code can read a search attribute, and the SDK decodes it by this type.
    const type = Buffer.from(payload.metadata?.[SEARCH_TYPE] ?? []).toString();
    const metadata = {
      [METADATA_ENCODING_KEY]: Buffer.from(encoding),
      ...(SEARCH_TYPES.includes(type) && { [SEARCH_TYPE]: Buffer.from(type) }),
    };
    const isTime = type === 'Datetime' && DATETIME.test(Buffer.from(payload.data ?? []).toString());
    if (isTime) return { metadata, data: payload.data ?? null };
    if (payload.data == null || payload.data.length === 0) return { metadata, data: payload.data ?? null };
    if (
      encoding === encodingTypes.METADATA_ENCODING_JSON ||
      encoding === encodingTypes.METADATA_ENCODING_PROTOBUF_JSON
    ) {
      try {
        const value: unknown = JSON.parse(Buffer.from(payload.data).toString('utf8'));
        return { metadata, data: Buffer.from(JSON.stringify(this.names.in(value))) };
      } catch (error) {
        throwBug(error);
        // Nothing that can be read stays.
      }
    }
    return { metadata, data: Buffer.from('redacted') };
  }
}

/** Of a memo only the version of this package, for whoever reads the report. */
function keptOf(memo: Parameters<typeof versionIn>[0]): object {
  const version = versionIn(memo);
  return { fields: version === null ? {} : { [VERSION_MEMO]: defaultPayloadConverter.toPayload(version) } };
}

/** An empty value of the same kind, so that the field is still there. */
function emptied(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return [];
  const { fields, indexedFields } = value as { readonly fields?: unknown; readonly indexedFields?: unknown };
  if (fields !== undefined) return { fields: {} };
  return indexedFields === undefined ? null : { indexedFields: {} };
}

/** A number of 64 bits. */
const isLong = (value: object): boolean => 'low' in value && 'high' in value;
