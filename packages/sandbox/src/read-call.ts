import { type Exchange } from './exchange';
import { type FaultAction } from './faults';
import { wait } from './paid-call';
import { type SandboxReply } from './reply';
import { replaceReply } from './perform-fault';

/** A request that changes nothing: a poll or a download. */
export interface ReadCall {
  taskId?: string | undefined;
  model?: string | undefined;
  prompt?: string | undefined;
  /** Content-Type that error pages are sent with. */
  mediaType: string;
  /** Status of a `not_ready` fault that does not set one. */
  notReady?: number;
  /** The normal reply; `fault` may change the record. */
  reply(fault: FaultAction | undefined): SandboxReply | Promise<SandboxReply>;
}

/** Answers a request that changes nothing and applies the fault rules. */
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
