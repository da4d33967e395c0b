import { type RejectReason } from './failure-table';
import { type StandingScope } from './paid-call';
import { type TaskError } from './video-task';

/** The parts of a refusal that decide its scope. */
export interface RefusalSigns {
  readonly reason: RejectReason;
  readonly httpStatus: number;
  readonly error: TaskError;
}

/**
 * A disabled or unknown model, as services name it in codes and messages; errors about its parameters do not match.
 */
const MODEL_CODE =
  /^(?:.*\.)?(?:model_?(?:not_?found|does_?not_?exist|not_?exists?|disabled)|(?:unknown|no_?such|disabled)_?model)$/i;
const MODEL_WORDS =
  /\bmodel\b\W{1,3}(?:[\w./:-]{1,80}\W{1,3})?(?:is )?(?:not found|does not exist|disabled|switched off)\b|\b(?:unknown|no such|disabled) (?:(?:image|video) )?model\b/i;

/**
 * Scope in which a proven refusal holds until a person mends its cause: the account (its key, its balance), one model
 * of it (switched off, unknown, or no such path), or undefined where it concerns this one request only.
 */
export function standingScope({ reason, httpStatus, error }: RefusalSigns): StandingScope | undefined {
  if (reason !== 'credentials' && reason !== 'quota' && reason !== 'invalid_request') return undefined;
  if (namesModel(error)) return 'model';
  if (reason !== 'invalid_request') return 'account';
  return httpStatus === 404 || httpStatus === 405 ? 'model' : undefined;
}

/**
 * Whether a refusal with a scope may be about its request alone: a firewall answers 403 or 404 for a prompt, and a
 * service 403 for content that it forbids. One other call shows which it is.
 */
export function mayBeOfOneRequest({ reason, httpStatus, error }: Partial<RefusalSigns>): boolean {
  const isVague = httpStatus === 403 || httpStatus === 404 || httpStatus === 405;
  return isVague && reason !== 'quota' && !(error !== undefined && namesModel(error));
}

const namesModel = ({ code, message }: TaskError): boolean =>
  MODEL_CODE.test(code ?? '') || MODEL_WORDS.test(message ?? '');
