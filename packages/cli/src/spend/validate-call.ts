import { GIVES_NONE } from 'temporal-media/internal/activities/signed-address';
import { type MediaConfig } from 'temporal-media/worker';
import { type Money, type ModelEntry, type PaidRequest } from 'temporal-media';
import { estimateFor } from 'temporal-media/internal/domain/price';
import { addressedSources, validateAgainstModel } from 'temporal-media/internal/domain/model-config';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import { CliError } from '../errors';
import { type ModelsOrigin } from '../json-output';
import { modelsInForce } from '../models/models-in-force';
import { refuseIssues } from '../refuse-invalid';

/** A paid call that the model configuration known here accepts. */
export interface ValidatedCall {
  /** `unlisted`: no entry, so its values were not validated and only the safe fields pass. */
  readonly model: 'entry' | 'unlisted';
  readonly entry: ModelEntry | undefined;
  /** By the price rule of the entry; null is unknown, never free (C1.5). */
  readonly estimate: Money | null;
  readonly source: ModelsOrigin;
}

/** Where a call is validated, and for which account. */
export interface CallPlace {
  readonly config: MediaConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly account: string | undefined;
}

/**
 * Validates a call as a worker with this model configuration would before sending it. Nothing is sent or started.
 * @throws CliError for what it would refuse, and `models_unavailable`
 */
export async function validateCall(
  paid: PaidRequest,
  { config, env, account }: CallPlace,
): Promise<ValidatedCall> {
  const { source, origin } = await modelsInForce(config, env, account);
  const kind = paid.operation === 'create_video' ? 'video' : 'image';
  const lookup = await source.lookup(paid.request.model, kind);
  if (lookup.found === 'unavailable') throw new CliError('models_unavailable', lookup.message);
  refuseIssues(validateAgainstModel(paid, lookup).issues, paid);
  const addressed = addressedSources(paid, lookup);
  if (addressed.length > 0 && (await openArtifactStore(config)).presign === undefined)
    refuseIssues(
      addressed.map(({ field }) => ({ field, message: GIVES_NONE })),
      paid,
    );
  const entry = lookup.found === 'entry' ? lookup.entry : undefined;
  return {
    model: entry === undefined ? 'unlisted' : 'entry',
    entry,
    estimate: exact(estimateFor(paid, entry)),
    source: origin,
  };
}

/** An amount that is not a safe integer of micro-units is unknown. */
function exact(estimate: Money | null): Money | null {
  return estimate !== null && Number.isSafeInteger(estimate.microUnits) ? estimate : null;
}
