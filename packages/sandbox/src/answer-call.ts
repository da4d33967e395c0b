import { type Exchange } from './exchange';
import { type FaultAction } from './faults';
import { replaceReply } from './perform-fault';
import { mistypedDirectives } from './prompt-directives';
import { errorReply, type SandboxReply } from './reply';
import { type Violation } from './validate-bodies';

/** A paid call that has been read and validated. */
interface PaidCall {
  operation: 'create' | 'generate' | 'edit';
  model: string;
  prompt: string;
  violations: Violation[];
  /** Accepts the work immediately and permanently; resolves to the normal reply. */
  accept(): Promise<SandboxReply>;
}

/**
 * Answers a paid call. Checks the credentials and then the contract, then applies the prompt's directives and the fault
 * rules, in that order. The log entry and the counters record whether the work was accepted, even if the reply is lost.
 */
export async function answerPaidCall(exchange: Exchange, call: PaidCall): Promise<void> {
  exchange.entry.violations.push(...call.violations.map((one) => one.message));
  exchange.model = call.model;
  const refused =
    refuseCredentials(exchange) ?? refuseViolations(call.violations) ?? refuseMistyped(call.prompt);
  if (refused !== undefined) return exchange.send(refused);

  const { operation, model, prompt, violations: _ } = call;
  const verdict = exchange.core.faults.take({ operation, model, prompt });
  const action = exchange.core.takeDirective(operation, prompt) ?? verdict.action;
  await wait(verdict.delayMs);
  const instead = action === undefined ? undefined : replaceReply(action, 'application/json', 400);
  if (action === undefined || acceptsWork(action, instead)) {
    const reply = await exchange.core.keys.accept(exchange, () => call.accept());
    return exchange.send(instead ?? reply, action);
  }
  return exchange.send(instead ?? errorReply(503, 'The reply was lost.'), action);
}

/** Returns the reply for missing, invalid or forbidden credentials (contract 5). */
export function refuseCredentials(exchange: Exchange): SandboxReply | undefined {
  switch (exchange.entry.authorization) {
    case 'valid':
      return undefined;
    case 'forbidden':
      return errorReply(403, 'This key does not have access.', {
        code: 'access_denied',
        type: 'permission_error',
      });
    default:
      return errorReply(401, 'The API key is missing or invalid.', {
        code: 'invalid_api_key',
        type: 'authentication_error',
      });
  }
}

/** Returns the 400 reply for the first violation. The log contains all of them. */
export function refuseViolations([first]: Violation[]): SandboxReply | undefined {
  if (first === undefined) return undefined;
  return errorReply(400, first.message, { param: first.param, code: first.code ?? 'invalid_parameter' });
}

/**
 * Returns the sandbox's own error for a mistyped directive, which would otherwise be ignored. A mistyped directive is
 * not a contract violation.
 */
function refuseMistyped(prompt: string): SandboxReply | undefined {
  const [first] = mistypedDirectives(prompt);
  if (first === undefined) return undefined;
  const message = `[${first.word}] is not a directive of this sandbox. Did you mean [${first.near}]?`;
  return errorReply(400, message, { param: 'prompt', code: 'unknown_directive' });
}

/** Waits. For 0, returns without starting a timer. */
export async function wait(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

function acceptsWork(action: FaultAction, instead: SandboxReply | undefined): boolean {
  if (action.type === 'accept_then_status') return true;
  if (action.type === 'lose_reply') return action.accepted;
  return instead === undefined && action.type !== 'reset_early';
}

/** A request that changes nothing: a poll or a download. */
interface ReadCall {
  taskId?: string | undefined;
  model?: string | undefined;
  prompt?: string | undefined;
  /** Content-Type of error pages. */
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
