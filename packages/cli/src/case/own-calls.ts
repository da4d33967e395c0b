import { type Client } from '@temporalio/client';
import { type ExecutionView, type OwnCall } from 'temporal-media/internal/domain/case';
import { ACTIVITY, WORKFLOW } from 'temporal-media/internal/domain/names';

const PAID_WORKFLOWS: ReadonlySet<string> = new Set([
  WORKFLOW.generateVideo,
  WORKFLOW.awaitVideo,
  WORKFLOW.generateImage,
  WORKFLOW.editImage,
  WORKFLOW.runCampaign,
]);
const PAID_ACTIVITIES: ReadonlySet<string> = new Set([ACTIVITY.generateImage, ACTIVITY.editImage]);

type Events = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>;

/** The paid calls that a workflow of the user's own has made, in their order: child workflows and image activities. */
export async function ownCalls(client: Client, { workflowId, runId }: ExecutionView): Promise<OwnCall[]> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return callsIn(events ?? []);
}

function callsIn(events: Events): OwnCall[] {
  const calls = new Map<string, OwnCall>();
  const end = (event: unknown, state: OwnCall['state']): void => {
    const of = (event ?? {}) as { readonly initiatedEventId?: unknown; readonly scheduledEventId?: unknown };
    const at = String(of.initiatedEventId ?? of.scheduledEventId);
    const call = calls.get(at);
    if (call !== undefined) calls.set(at, { ...call, state });
  };
  for (const event of events) {
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    const activity = event.activityTaskScheduledEventAttributes;
    const type = child?.workflowType?.name ?? activity?.activityType?.name ?? '';
    if (PAID_WORKFLOWS.has(type) || PAID_ACTIVITIES.has(type))
      calls.set(String(event.eventId), {
        type,
        id: child?.workflowId ?? activity?.activityId ?? '',
        state: 'open',
      });
    end(
      event.childWorkflowExecutionCompletedEventAttributes ?? event.activityTaskCompletedEventAttributes,
      'completed',
    );
    end(
      event.childWorkflowExecutionCanceledEventAttributes ?? event.activityTaskCanceledEventAttributes,
      'cancelled',
    );
    for (const failed of [
      event.childWorkflowExecutionFailedEventAttributes,
      event.childWorkflowExecutionTerminatedEventAttributes,
      event.childWorkflowExecutionTimedOutEventAttributes,
      event.startChildWorkflowExecutionFailedEventAttributes,
      event.activityTaskFailedEventAttributes,
      event.activityTaskTimedOutEventAttributes,
    ])
      end(failed, 'failed');
  }
  return [...calls.values()];
}
