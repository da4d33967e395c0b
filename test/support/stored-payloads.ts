import { type Client, type ClientOptions } from '@temporalio/client';
import { type DataConverter, type LoadedDataConverter } from '@temporalio/common';
import { type NativeConnectionOptions, type WorkerOptions } from '@temporalio/worker';
import type * as Converters from '../../packages/cli/src/shared/data-converter';
import type * as Decode from '../../packages/replay/src/decode-payloads';
import { decodePayloads } from '../../src/client/read-payloads';

/**
 * Where the payloads of all tests are: on the server, unless TEST_PAYLOADS=s3 says that each of them is in a bucket and the
 * server has references only.
 */
export const ARE_STORED = areStored(process.env['TEST_PAYLOADS']);

function areStored(text: string | undefined): boolean {
  if (text === undefined || text === '' || text === 'inline') return false;
  if (text === 's3') return true;
  throw new Error(`TEST_PAYLOADS must be inline or s3, and is ${text}`);
}

export const PAYLOADS_BUCKET = 'payloads';

/** What commands and workers in processes of their own are told. */
export const PAYLOADS_ENV: Readonly<Record<string, string>> = ARE_STORED
  ? { MEDIA_EXTERNAL_STORAGE: `s3://${PAYLOADS_BUCKET}`, MEDIA_EXTERNAL_STORAGE_THRESHOLD: '0' }
  : {};

/** The data converter of all clients and workers; undefined for that of the SDK. */
export async function converterOfTests(namespace: string): Promise<DataConverter | undefined> {
  if (!ARE_STORED) return undefined;
  // Loaded when it is wanted: every test file would pay for it.
  // eslint-disable-next-line typescript/no-require-imports
  const { dataConverterOf } = require('../../packages/cli/src/shared/data-converter') as typeof Converters;
  return dataConverterOf({ ...process.env, ...PAYLOADS_ENV }, namespace);
}

/** Gives what a test makes on a connection the data converter of all, unless it brings one of its own. */
export async function pluginsOfTests(
  namespace: string,
): Promise<NonNullable<NativeConnectionOptions['plugins']>> {
  const dataConverter = await converterOfTests(namespace);
  if (dataConverter === undefined) return [];
  const converted = <Options extends ClientOptions | WorkerOptions>(options: Options): Options => ({
    ...options,
    dataConverter: options.dataConverter ?? dataConverter,
  });
  return [{ name: 'stored-payloads', configureClient: converted, configureWorker: converted } as never];
}

/** Has the histories that a client fetches show what the workflows saw, not where it is. */
export function showStoredHistories({ workflow, options: { loadedDataConverter } }: Client): void {
  if (!ARE_STORED) return;
  // The setup of all tests loads this file before `lib` is there, in which a companion finds the core. And once the first
  // of concurrent tests has ended, jest loads nothing.
  // eslint-disable-next-line typescript/no-require-imports
  const { payloadsIn } = require('../../packages/replay/src/decode-payloads') as typeof Decode;
  // Every handle of a client is made here.
  const handles = workflow as unknown as { _createWorkflowHandle: typeof workflow.getHandle };
  const make = handles._createWorkflowHandle.bind(workflow);
  handles._createWorkflowHandle = ((...args: Parameters<typeof make>) => {
    const handle = make(...args);
    const fetchHistory = handle.fetchHistory.bind(handle);
    handle.fetchHistory = async () => {
      const history = await fetchHistory();
      await showIn(payloadsIn(history), loadedDataConverter);
      return history;
    };
    return handle;
  }) as typeof make;
}

async function showIn(
  payloads: ReturnType<typeof Decode.payloadsIn>,
  { externalStorage }: LoadedDataConverter,
): Promise<void> {
  const stored = { payloadCodecs: [], ...(externalStorage !== undefined && { externalStorage }) };
  const read = await decodePayloads(stored, payloads, undefined);
  for (const [index, payload] of payloads.entries())
    Object.assign(payload, { ...read[index], externalPayloads: [] });
}
