import { randomBytes } from 'node:crypto';
import { METADATA_ENCODING_KEY, type Payload } from '@temporalio/common';
import { Encryption } from '../../examples/encryption';
import { describeStandalone } from '../../src/client/workflow-service';
import { type TestServer } from './temporal';

/** The codec of the examples with a key of its own. @param id name of the key */
export const newEncryption = (id = 'first'): Encryption => new Encryption(newKey(id));

/** One key as the examples take it. */
export const newKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.[METADATA_ENCODING_KEY] ?? []).toString();
}

/** Every payload below a message of the server. */
function* payloadsIn(value: unknown): Generator<Payload> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if ('metadata' in value && 'data' in value) return void (yield value as Payload);
  // The server indexes search attributes: a codec never sees them.
  for (const [name, inner] of Object.entries(value))
    if (name !== 'searchAttributes') yield* payloadsIn(inner);
}

/** No payload of these workflows, and of activities without one, can be read on the server, but what the SDK itself marks. */
export async function expectUnreadable(server: TestServer, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { client, namespace } = server;
    const alone = await describeStandalone(client, namespace, { activityId: id, runId: '' });
    if (alone !== undefined) {
      const stored = [...payloadsIn([alone.input, alone.outcome])].map(encodingOf);
      expect(stored).toEqual(['binary/encrypted', 'binary/encrypted']);
      continue;
    }
    const { events } = await server.client.workflow.getHandle(id).fetchHistory();
    const own = events?.filter(({ markerRecordedEventAttributes: marker }) => marker == null);
    const { workflowExecutionInfo } = await server.client.workflowService.describeWorkflowExecution({
      namespace: server.namespace,
      execution: { workflowId: id },
    });
    const memo = workflowExecutionInfo?.memo;
    const payloads = [...payloadsIn([own, memo])];
    expect(payloads.length).toBeGreaterThan(3);
    expect(new Set(payloads.map(encodingOf))).toEqual(new Set(['binary/encrypted']));
  }
}
