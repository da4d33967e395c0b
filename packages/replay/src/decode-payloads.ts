import {
  encodingTypes,
  type ExternalStorage,
  METADATA_ENCODING_KEY,
  type Payload,
  type PayloadCodec,
} from '@temporalio/common';
import { decodePayloads, isStoredElsewhere } from 'temporal-media/internal/client/read-payloads';
import { HistoryError, type LoadedRun } from './loaded-history';

/**
 * Returns every payload in a history, in event order. These are the original objects, not copies. Adds them to one list,
 * because generators inside of generators took a seventh of a replay's time.
 */
export function payloadsIn(value: unknown, found: Payload[] = []): readonly Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return found;
  if (isPayload(value)) found.push(value);
  else
    for (const name of Object.keys(value)) {
      const inner = (value as Readonly<Record<string, unknown>>)[name];
      // The server indexes search attributes, so a codec never sees them.
      if (typeof inner === 'object' && name !== 'searchAttributes') payloadsIn(inner, found);
    }
  return found;
}

/** Recognizes a payload by its fields. An unset field is undefined or, in a protobuf message, an empty list. */
export function isPayload(value: object): value is Payload {
  const { metadata, data } = value as Payload;
  return (
    metadata?.[METADATA_ENCODING_KEY] instanceof Uint8Array &&
    (data == null || data.length === 0 || data instanceof Uint8Array)
  );
}

/** Returns a payload's encoding, such as `json/plain`, or `external storage` if its bytes are stored externally. */
export function encodingOf(payload: Payload): string {
  if (isStoredElsewhere(payload)) return EXTERNAL;
  return Buffer.from(payload.metadata?.[METADATA_ENCODING_KEY] ?? []).toString();
}

const EXTERNAL = 'external storage';

const KNOWN: ReadonlySet<string> = new Set(Object.values(encodingTypes));

/** Options for {@link decodeRun}. */
export interface DecodeOptions {
  /** Configured codecs, in encoding order. */
  readonly codecs: readonly PayloadCodec[];
  /** Where payloads are kept that a history only refers to. @default references cannot be read */
  readonly externalStorage?: ExternalStorage;
  /** The workflow's namespace. A codec can depend on it. */
  readonly namespace: string;
  /** Whether the workflow code might have a converter for encodings that the SDK does not know. */
  readonly ownConverter: boolean;
}

/**
 * Decodes a run's payloads in place, as the workers' codec did for the workflow code. Payloads in external storage are
 * fetched, so that the run is complete without it.
 * @throws HistoryError `encrypted`, or the error of a codec or storage that cannot be reached
 */
export async function decodeRun(run: LoadedRun, options: DecodeOptions): Promise<LoadedRun> {
  const payloads = [...payloadsIn(run.history), ...payloadsIn(run.pending)];
  const { codecs, externalStorage, ownConverter } = options;
  if (externalStorage === undefined && payloads.some(isStoredElsewhere))
    throw new HistoryError(
      'encrypted',
      `The payloads of ${run.workflowId} (${run.source}) are in external storage, which is not configured here, so its inputs and results are unknown.`,
    );
  if (codecs.length > 0 || externalStorage !== undefined) {
    const decoded = await decodeAll(payloads, run, options);
    for (const [index, payload] of payloads.entries()) {
      payload.metadata = decoded[index]?.metadata ?? null;
      payload.data = decoded[index]?.data ?? null;
      payload.externalPayloads = [];
    }
  }
  const encrypted = payloads.map(encodingOf).find((encoding) => isHidden(encoding, ownConverter));
  if (encrypted !== undefined)
    throw new HistoryError(
      'encrypted',
      `The payloads of ${run.workflowId} (${run.source}) are encoded as ${JSON.stringify(encrypted.slice(0, 40))}, which this code cannot decode.`,
    );
  return run;
}

/** Whether a codec encoded any payload in a history, or a storage keeps it. */
export function isEncoded({ history }: Pick<LoadedRun, 'history'>): boolean {
  return payloadsIn(history).some((payload) => !KNOWN.has(encodingOf(payload)));
}

const isHidden = (encoding: string, ownConverter: boolean): boolean =>
  encoding === 'binary/encrypted' || (!ownConverter && !KNOWN.has(encoding));

async function decodeAll(
  payloads: readonly Payload[],
  run: LoadedRun,
  { codecs, externalStorage, namespace }: DecodeOptions,
): Promise<readonly Payload[]> {
  const context = { type: 'workflow', namespace, workflowId: run.workflowId } as const;
  try {
    const how = { payloadCodecs: [...codecs], ...(externalStorage !== undefined && { externalStorage }) };
    return await decodePayloads(how, payloads, context);
  } catch (error) {
    if (UNREACHABLE.has((error as Error).name)) throw error;
    throw new HistoryError(
      'encrypted',
      `The payloads of ${run.workflowId} (${run.source}) cannot be decoded: ${(error as Error).message}`,
    );
  }
}

const UNREACHABLE: ReadonlySet<string> = new Set(['CodecUnreachableError', 'StorageUnreachableError']);
