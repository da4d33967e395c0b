import { createRequire } from 'node:module';
import { type History } from '@temporalio/common/lib/proto-utils';

type Type = object;

interface Patch {
  patchProtobufRoot(root: object): { lookupType(name: string): Type };
}

interface ProtoJson {
  fromJson(type: Type, json: unknown, options: { readonly ignoreUnknownFields: boolean }): History | null;
  toJson(type: Type, message: object): unknown;
}

interface Proto {
  readonly temporal: {
    readonly api: {
      readonly history: {
        readonly v1: {
          readonly History: {
            decode(bytes: Uint8Array): History;
            fromObject(history: object): object;
            encode(history: object): { finish(): Uint8Array };
          };
        };
      };
    };
  };
}

interface Converter {
  readonly json: ProtoJson;
  readonly proto: Proto;
  readonly type: Type;
}

let loaded: Converter | undefined;

/**
 * Returns the converter from the copy of protobufjs that created the types. The SDK's own historyFromJSON fails with
 * "type must be a Type" if npm installs separate copies of protobufjs for @temporalio/common and @temporalio/proto.
 */
function converter(): Converter {
  if (loaded !== undefined) return loaded;
  const ofCommon = createRequire(require.resolve('@temporalio/common'));
  const ofProto = createRequire(ofCommon.resolve('@temporalio/proto'));
  const proto = ofCommon('@temporalio/proto') as Proto;
  const patch = ofCommon('@temporalio/proto/lib/patch-protobuf-root') as Patch;
  loaded = {
    json: ofProto('protobufjs/ext/protojson') as ProtoJson,
    proto,
    type: patch.patchProtobufRoot(proto).lookupType('temporal.api.history.v1.History'),
  };
  return loaded;
}

/** Enum fields whose values have no prefix in older exports, such as `WorkflowExecutionStarted`. */
const ENUMS: { readonly [field: string]: string } = {
  eventType: 'EVENT_TYPE',
  kind: 'TASK_QUEUE_KIND',
  parentClosePolicy: 'PARENT_CLOSE_POLICY',
  workflowIdReusePolicy: 'WORKFLOW_ID_REUSE_POLICY',
  initiator: 'CONTINUE_AS_NEW_INITIATOR',
  retryState: 'RETRY_STATE',
  timeoutType: 'TIMEOUT_TYPE',
};

/** Adds enum prefixes and, if `times` is set, converts times and durations to their protobuf form. */
function normalised(value: unknown, field: string, times: boolean): unknown {
  if (typeof value === 'string') {
    const prefix = Object.hasOwn(ENUMS, field) ? ENUMS[field] : undefined;
    if (prefix !== undefined)
      return value.startsWith(prefix)
        ? value
        : `${prefix}_${value.replace(/(?<=.)([A-Z])/g, '_$1').toUpperCase()}`;
    return times && MAY_BE_TIME.test(field) ? timeOf(value) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => normalised(one, field, times));
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value))
    copy[name] = normalised((value as Record<string, unknown>)[name], name, times);
  return copy;
}

/**
 * Names of fields that can contain a time or a duration. Never matches a user's string, because users' strings are in
 * base64 payloads or in fields with other names.
 */
const MAY_BE_TIME = /(?:Time|Timeout|Interval|Backoff|Delay|Deadline|Expiration)$/;
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;
const DURATION = /^(\d+)(?:\.(\d{1,9}))?s$/;

function timeOf(text: string): unknown {
  const [, second, fraction = ''] = TIME.exec(text) ?? [];
  if (second !== undefined)
    return { seconds: Date.parse(`${second}Z`) / 1000, nanos: Number(fraction.padEnd(9, '0')) };
  const [, whole, part = ''] = DURATION.exec(text) ?? [];
  return whole === undefined ? text : { seconds: Number(whole), nanos: Number(part.padEnd(9, '0')) };
}

/**
 * Reads a history from the JSON that Temporal tools write. Drops fields from newer servers. @throws the parser's error
 */
export function historyFromJson(json: object): History {
  const { json: protojson, proto, type } = converter();
  try {
    // This is twice as fast as the parser below, but it rejects unknown fields.
    const message = normalised(json, '', true) as object;
    return proto.temporal.api.history.v1.History.fromObject(message);
  } catch (_error) {
    // The parser below reports what is wrong, if anything.
  }
  const history = protojson.fromJson(type, normalised(json, '', false), { ignoreUnknownFields: true });
  if (history === null) throw new Error('null is not a history');
  return history;
}

/** Writes a history as the JSON that every Temporal tool reads. */
export function historyToJson(history: History): { readonly events: readonly object[] } {
  const { json, proto, type } = converter();
  return json.toJson(type, proto.temporal.api.history.v1.History.fromObject(history)) as never;
}

/** Reads a history from its protobuf form. @throws the parser's error */
export function historyFromProtobuf(bytes: Uint8Array): History {
  return converter().proto.temporal.api.history.v1.History.decode(bytes);
}

/** Returns a history in its protobuf form. */
export function historyToProtobuf(history: History): Uint8Array {
  const { History: codec } = converter().proto.temporal.api.history.v1;
  return codec.encode(codec.fromObject(history)).finish();
}
