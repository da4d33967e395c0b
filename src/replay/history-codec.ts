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
 * The SDK's own historyFromJSON fails with "type must be a Type" where npm gives @temporalio/common and @temporalio/proto
 * a protobufjs each: the converter must be the copy that made the types.
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

/** Fields of older exports that name a value without the prefix of its enum: `WorkflowExecutionStarted`. */
const ENUMS: { readonly [field: string]: string } = {
  eventType: 'EVENT_TYPE',
  kind: 'TASK_QUEUE_KIND',
  parentClosePolicy: 'PARENT_CLOSE_POLICY',
  workflowIdReusePolicy: 'WORKFLOW_ID_REUSE_POLICY',
  initiator: 'CONTINUE_AS_NEW_INITIATOR',
  retryState: 'RETRY_STATE',
  timeoutType: 'TIMEOUT_TYPE',
};

function withEnumPrefixes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withEnumPrefixes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const prefix = Object.hasOwn(ENUMS, name) ? ENUMS[name] : undefined;
      return typeof inner === 'string' && prefix !== undefined && !inner.startsWith(prefix)
        ? [name, `${prefix}_${inner.replace(/(?<=.)([A-Z])/g, '_$1').toUpperCase()}`]
        : [name, withEnumPrefixes(inner)];
    }),
  );
}

/** A history of the JSON that Temporal tools write; fields of newer servers are left out. @throws what the parser throws */
export function historyFromJson(json: object): History {
  const { json: protojson, type } = converter();
  const history = protojson.fromJson(type, withEnumPrefixes(json), { ignoreUnknownFields: true });
  if (history === null) throw new TypeError('null is no history');
  return history;
}

/** A history as the JSON that every Temporal tool reads. */
export function historyToJson(history: History): { readonly events: readonly object[] } {
  const { json, proto, type } = converter();
  return json.toJson(type, proto.temporal.api.history.v1.History.fromObject(history)) as never;
}

/** A history of its protobuf form. @throws what the parser throws */
export function historyFromProtobuf(bytes: Uint8Array): History {
  return converter().proto.temporal.api.history.v1.History.decode(bytes);
}

/** A history in its protobuf form. */
export function historyToProtobuf(history: History): Uint8Array {
  const { History: codec } = converter().proto.temporal.api.history.v1;
  return codec.encode(codec.fromObject(history)).finish();
}
