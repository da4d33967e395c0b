import {
  continueAsNew,
  isCancellation,
  log,
  metricMeter,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { type Notice } from './notice';

/**
 * The workflows of notices. They run on their own task queue and share nothing with the workflows that buy.
 *
 * @module
 */

/** What the collector knows between two rounds. */
export interface CollectorState {
  readonly v: 1;
  /** When notices were first set up. What happened before is not reported. */
  readonly begun: number;
  /** Everything that happened before this time was found: milliseconds since the Unix epoch, in workflow time. */
  readonly since: number;
  /** Since when every round found executions that it could not read or report. */
  readonly laterSince?: number | undefined;
  /** Where the reading of the journal continues; null for its beginning. */
  readonly journal: string | null;
  /** When the journal may be read from its beginning again. */
  readonly journalAt: number;
  /** Accounts that the service refuses: since when, and when this was last seen. */
  readonly closed: { readonly [account: string]: { readonly since: number; readonly seen: number } };
}

/** Input of the activity that looks for events. */
export interface CollectInput {
  readonly state: CollectorState;
  /** Workflow time. */
  readonly now: number;
}

/** Input of the activity that delivers a notice. */
export interface DeliverInput {
  readonly notice: Notice;
  /** Id of the endpoint. */
  readonly endpoint: string;
}

/** How one endpoint's delivery ended. */
export type DeliveryEnd = 'taken' | 'gone';

/** Input of the workflow that delivers a notice to an endpoint. */
export interface DeliveryInput extends DeliverInput {
  /** The first and the longest pause between two attempts, in milliseconds. */
  readonly pauses: { readonly first: number; readonly longest: number };
}

/** The activities on the queue of notices. */
export interface NoticeActivities {
  'notices.collect': (
    input: CollectInput,
  ) => Promise<{ readonly state: CollectorState; readonly pauseMs: number }>;
  'notices.deliver': (input: DeliverInput) => Promise<DeliveryEnd>;
}

const { 'notices.collect': collect } = proxyActivities<NoticeActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  // Before deliveries, which share its queue: those to a receiver that hangs would delay it.
  priority: { priorityKey: 1 },
  // Until it succeeds: then it finds everything since the last time.
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Looks for events until it is terminated. Each round starts a workflow for every notice and endpoint. */
export async function mediaNotices(begin: CollectorState): Promise<void> {
  let state = begin;
  for (;;) {
    const collected = await collect({ state, now: Date.now() });
    ({ state } = collected);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof mediaNotices>(state);
    await sleep(collected.pauseMs);
  }
}

/** How long a notice is sent again. */
const GIVEN_UP_AFTER = '3 days';

/** Delivers a notice to an endpoint. Returns how that ended. */
export async function deliverNotice({
  notice,
  endpoint,
  pauses,
}: DeliveryInput): Promise<DeliveryEnd | 'given_up'> {
  const { 'notices.deliver': deliver } = proxyActivities<NoticeActivities>({
    scheduleToCloseTimeout: GIVEN_UP_AFTER,
    startToCloseTimeout: '30 seconds',
    // Where the server supports it, an endpoint that hangs does not delay the others.
    priority: { fairnessKey: endpoint },
    retry: { initialInterval: pauses.first, backoffCoefficient: 2, maximumInterval: pauses.longest },
  });
  try {
    return await deliver({ notice, endpoint });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.error(`No attempt of ${GIVEN_UP_AFTER} delivered a notice`, { noticeType: notice.type, endpoint });
    metricMeter.createCounter('temporal_media_notices').add(1, { type: notice.type, result: 'given_up' });
    return 'given_up';
  }
}
