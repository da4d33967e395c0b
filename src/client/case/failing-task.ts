import { type Client } from '@temporalio/client';

/** Events that are looked through, the newest first: the failure of a task is the last thing in its history. */
const LOOKED_AT = 5;
/** As the SDK says it. */
const NO_SUCH_WORKFLOW = /no such function is exported by the workflow bundle/;

/**
 * Why the code of a running workflow fails again and again: its task is retried for ever, and nobody is told. Undefined
 * where it does not fail. Where the worker lacks the workflow, says how it gets it.
 */
export async function failingTask(
  client: Client,
  workflowId: string,
  isOurs = true,
): Promise<string | undefined> {
  const { namespace } = client.options;
  const execution = { workflowId };
  const { pendingWorkflowTask } = await client.workflowService.describeWorkflowExecution({
    namespace,
    execution,
  });
  const attempt = pendingWorkflowTask?.attempt ?? 1;
  if (attempt < 2) return undefined;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution,
    maximumPageSize: LOOKED_AT,
  });
  const failed = history?.events?.find(({ workflowTaskFailedEventAttributes: failure }) => failure != null);
  const message = failed?.workflowTaskFailedEventAttributes?.failure?.message;
  if (message == null) return undefined;
  const remedy = NO_SUCH_WORKFLOW.test(message)
    ? ' A worker of this task queue lacks the workflows of temporal-media: add a MediaPlugin to it, or export temporal-media/workflows from its file of workflows.'
    : '';
  // What code of the user's own says may repeat a prompt.
  const said = isOurs || remedy !== '' ? message : 'the history and the log of its worker say why';
  return `try ${attempt} of the workflow's code, which fails: ${said}.${remedy}`;
}
