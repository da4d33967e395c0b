import { type Client } from '@temporalio/client';

/** Which activities a run had and on which task queues, each once, in the order of its history. */
export async function placesOf(client: Client, workflowId: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const used = (events ?? []).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    return scheduled ? [`${scheduled.activityType?.name} on ${scheduled.taskQueue?.name}`] : [];
  });
  return [...new Set(used)];
}
