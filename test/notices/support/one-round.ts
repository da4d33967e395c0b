import { type Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { type CollectParts, createCollect } from '../../../packages/notices/src/collect';
import { deliveryId, makeNotice, type Notice, type NoticePlace } from '../../../packages/notices/src/notice';
import { type CollectInput, type CollectorState } from '../../../packages/notices/src/workflows';
import { isGrpcNotFound } from '../../../src/client/workflow-service';
import { NO_JOURNAL } from '../../../src/domain/journal';
import { FAST } from './test-notices';

const ENDPOINT = {
  ...{ id: '00000000', url: new URL('http://127.0.0.1:9/'), allowPrivate: true },
  ...{ wants: () => true, secrets: () => [] },
};

type Collected = Awaited<ReturnType<ReturnType<typeof createCollect>>>;

/** A collector without a worker: its rounds run when the test says, and nothing delivers what they start. */
export function collectorOf(client: Client, place: NoticePlace, given: Partial<CollectParts> = {}) {
  const parts: CollectParts = {
    ...{ place, endpoints: () => [ENDPOINT], journal: async () => NO_JOURNAL, accounts: () => [] },
    ...FAST,
    ...given,
  };
  const collect = createCollect(parts);
  let state: CollectorState = {
    ...{ v: 1, begun: 0, since: Date.now() - 60_000, journal: null, journalAt: 0, closed: {} },
  };
  return {
    /** Runs one round. Returns what the next one begins with. */
    round: async (given: Partial<CollectorState> = {}, now = Date.now()): Promise<CollectorState> => {
      const input: CollectInput = { state: { ...state, ...given }, now };
      const environment = new MockActivityEnvironment({}, { client });
      const collected = await environment.run<[CollectInput], Collected, typeof collect>(collect, input);
      ({ state } = collected);
      return state;
    },
    /** The notice about this whose delivery was started; undefined if there is none. */
    started: async (
      type: Notice['type'],
      about: readonly (string | number)[],
    ): Promise<Notice | undefined> => {
      const id = deliveryId(makeNotice(place, type, about, 0, {}), ENDPOINT);
      try {
        const { events } = await client.workflow.getHandle(id).fetchHistory();
        const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
        const data = payloads?.[0]?.data ?? [];
        return (JSON.parse(Buffer.from(data).toString()) as { readonly notice: Notice }).notice;
      } catch (error) {
        if (isGrpcNotFound(error)) return undefined;
        throw error;
      }
    },
  };
}
