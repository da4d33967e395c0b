import { requestFingerprint } from 'temporal-media/client';
import { describeWorkflow } from 'temporal-media/internal/client/started';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { FINGERPRINT_MEMO } from 'temporal-media/internal/domain/names';
import { type PaidRequest } from 'temporal-media';
import { connect } from '../connect';
import { type CallPlace } from './validate-call';

/**
 * Whether this very request has a workflow under its id. The command then returns what was bought, and a model configuration that has
 * changed since must not prevent that. False where no server answers.
 */
export async function isCallStarted(
  paid: PaidRequest,
  { id, account }: { readonly id?: string; readonly account?: string },
  { config, env }: CallPlace,
): Promise<boolean> {
  if (id === undefined) return false;
  const found = await connect(config, env)
    .then(({ client }) => describeWorkflow(client.workflow, id))
    .catch(otherwise(undefined));
  return found?.memo?.[FINGERPRINT_MEMO] === requestFingerprint(paid, account);
}
