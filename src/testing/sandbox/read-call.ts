import { type Exchange } from './exchange';
import { type FaultAction } from './faults';
import { wait } from './paid-call';
import { replaceReply, type SandboxReply } from './reply';

/** A request that changes nothing: a poll or a download. */
export interface ReadCall {
  taskId?: string | undefined;
  model?: string | undefined;
  prompt?: string | undefined;
  /** Media type that error pages pretend to be. */
  mediaType: string;
  /** Status of a `not_ready` fault without one of its own. */
  notReady?: number;
  /** The normal reply; `fault` may change the record. */
  reply(fault: FaultAction | undefined): SandboxReply | Promise<SandboxReply>;
}

/** Answers a request that changes nothing, through the fault rules. */
export async function answerReadCall(exchange: Exchange, call: ReadCall): Promise<void> {
  const { taskId, model, prompt } = call;
  exchange.model = model ?? '';
  if (taskId !== undefined) exchange.entry.taskId = taskId;
  const verdict = exchange.core.faults.take({ operation: exchange.entry.operation, taskId, model, prompt });
  await wait(verdict.delayMs);
  const { action } = verdict;
  const instead = action === undefined ? undefined : replaceReply(action, call.mediaType, call.notReady);
  await exchange.send(instead ?? (await call.reply(action)), action);
}
