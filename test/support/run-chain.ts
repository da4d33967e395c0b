import { type Client, defaultPayloadConverter } from '@temporalio/client';

/** One run of a workflow that continues as new. */
export interface ChainedRun<Input> {
  readonly runId: string;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  readonly input: Input;
}

/** The runs of a closed chain of continue-as-new in order, as the server kept them. */
export async function runChain<Input>(
  client: Client,
  workflowId: string,
  firstRunId: string,
): Promise<ChainedRun<Input>[]> {
  const chain: ChainedRun<Input>[] = [];
  for (let runId: string | undefined = firstRunId; runId !== undefined;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const first = events?.[0];
    const [input] = first?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    if (first?.eventTime == null || input == null) throw new Error('A history without a start');
    const { seconds, nanos } = first.eventTime;
    chain.push({
      runId,
      startedAt: Number(seconds) * 1000 + Number(nanos) / 1e6,
      input: defaultPayloadConverter.fromPayload<Input>(input),
    });
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return chain;
}
