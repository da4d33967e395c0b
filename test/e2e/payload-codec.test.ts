import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { TemporalMediaClient } from '../../src/client';
import { startTemporalServer, type RunningTemporalServer } from '../../src/testing/temporal-server';
import { storedManifest } from '../support/campaign';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

const ENCRYPTED = 'binary/encrypted';
const { Payload: PayloadMessage } = temporal.api.common.v1;

/** As the samples of Temporal do it: each payload whole, with its metadata. */
class Encryption implements PayloadCodec {
  readonly #key = randomBytes(32);

  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(
      payloads.map((payload) => {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
        const plain = PayloadMessage.encode(payload).finish();
        const data = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
        return { metadata: { [METADATA_ENCODING_KEY]: Buffer.from(ENCRYPTED) }, data };
      }),
    );
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(
      payloads.map((payload) => {
        if (encodingOf(payload) !== ENCRYPTED) return payload;
        const data = Buffer.from(payload.data ?? []);
        const decipher = createDecipheriv('aes-256-gcm', this.#key, data.subarray(0, 12));
        decipher.setAuthTag(data.subarray(-16));
        const plain = Buffer.concat([decipher.update(data.subarray(12, -16)), decipher.final()]);
        return PayloadMessage.decode(plain);
      }),
    );
  }
}

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

describe('a codec that encrypts what crosses to the server', () => {
  const dataConverter = { payloadCodecs: [new Encryption()] };
  let own: RunningTemporalServer | undefined;
  // Commands of other tests list what is in their namespace, and have no codec.
  const stack = sharedStack(
    async () => {
      own = await startTemporalServer({
        env: { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_PROFILE: undefined },
      });
      return { temporal: own, sandbox: { timing: { queuedMs: 0, runningMs: 500 } } };
    },
    (made) => made.startWorker({ worker: { dataConverter } }),
  );
  afterAll(() => own?.stop());

  const clientOf = ({ server, taskQueue }: MediaStack) => {
    const client = new Client({
      connection: server.client.connection,
      namespace: server.namespace,
      dataConverter,
    });
    return { client, media: new TemporalMediaClient(client, { taskQueue }) };
  };

  /** No payload of these workflows can be read on the server, but what the SDK itself marks. */
  async function expectUnreadable({ server }: MediaStack, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const { events } = await server.client.workflow.getHandle(id).fetchHistory();
      const own = events?.filter(({ markerRecordedEventAttributes: marker }) => marker == null);
      const { workflowExecutionInfo } = await server.client.workflowService.describeWorkflowExecution({
        namespace: server.namespace,
        execution: { workflowId: id },
      });
      const memo = workflowExecutionInfo?.memo;
      const payloads = [...payloadsIn([own, memo])];
      expect(payloads.length).toBeGreaterThan(3);
      expect(new Set(payloads.map(encodingOf))).toEqual(new Set([ENCRYPTED]));
    }
  }

  it('a video, an image and their decisions', async () => {
    const made = await stack();
    const { media } = clientOf(made);
    const [video, image, lost] = await Promise.all([
      media.startVideo({ request: { model: 'cine-1', prompt: 'a hidden kite', durationSeconds: 2 } }),
      media.startImage({ request: { model: 'image-2', prompt: 'a hidden boat', size: '512x512' } }),
      media.startVideo({
        request: { model: 'cine-1', prompt: '[lost-reply] a hidden mill', durationSeconds: 2 },
      }),
    ]);
    const [filmed, drawn, unknown] = await Promise.all([video.result(), image.result(), lost.result()]);
    expect([filmed.outcome, drawn.outcome, unknown.outcome]).toEqual([
      'completed',
      'completed',
      'unconfirmed',
    ]);
    if (filmed.outcome !== 'completed') return;
    const resumed = await media.resume(filmed.video.taskId);
    expect(await resumed.result()).toMatchObject({ outcome: 'completed', artifact: filmed.artifact });
    await expectUnreadable(made, [video.workflowId, image.workflowId, lost.workflowId]);
  });

  it('a campaign, its lanes, its orders and its results', async () => {
    const made = await stack();
    const { media } = clientOf(made);
    const rows = Array.from({ length: 12 }, (_, n) => ({
      id: `row-${n}`,
      model: 'cine-1',
      prompt: `a hidden cloud number ${n}`,
      duration: 2,
    }));
    const id = made.server.uniqueId('hidden');
    const budget = { microUnits: 12 * 100_000, currency: 'USD' };
    const started = await media.startCampaign(
      { manifest: await storedManifest(made, rows), concurrency: 4, budget },
      { id },
    );
    expect(await media.orderCampaign(id, 'setConcurrency', { concurrency: 6 })).toMatchObject({
      accepted: true,
    });
    expect(await started.result()).toMatchObject({ outcome: 'completed', counts: { completed: 12 } });
    expect(await media.campaignState(id)).toMatchObject({ counts: { completed: 12 } });
    await expectUnreadable(made, [id, `${id}/lane/0`]);
  });
});
