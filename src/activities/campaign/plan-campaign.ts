import { join } from 'node:path';
import { Context } from '@temporalio/activity';
import { ArtifactError } from '../../artifacts/artifact-error';
import { type ArtifactStore } from '../../artifacts/artifact-store';
import { ingestFile } from '../../artifacts/ingest-file';
import { type CampaignPlan, type PlanCampaignInput } from '../../domain/campaign/plan';
import { type CreateJournal } from '../../domain/create-journal';
import { rowCreationKey } from '../../domain/creation-key';
import { type ArtifactRef } from '../../domain/media';
import { ModelsDownError } from '../../manifest/manifest-error';
import { planManifest, type PlanProgress } from '../../manifest/plan-manifest';
import { type ModelSource } from '../../models/model-source';
import { type AccountRegistry } from '../accounts';
import { retryLater } from '../failures';
import { fingerprintOf } from '../fingerprint-of';
import { startHeartbeat } from '../heartbeat';
import { caller } from '../paid-context';
import { realInputFile } from '../resolve-source';
import { begunBefore, isFirstText } from './begun-before';
import { manifestBytes } from './manifest-bytes';

export interface PlanCampaignDeps {
  readonly accounts: AccountRegistry;
  readonly artifacts: ArtifactStore;
  readonly models: ModelSource;
  readonly inputRoots: readonly string[];
  readonly journal: CreateJournal | 'none';
  readonly createsPerSecond?: number | undefined;
}

/**
 * The body of `media.planCampaign`. Reads, judges, joins and writes; sends nothing to the service. Repeated, it writes
 * the same bytes under the same names. Beats with counts only.
 */
export function createPlanCampaign(deps: PlanCampaignDeps) {
  const { accounts, artifacts, models, inputRoots, journal, createsPerSecond } = deps;
  return async ({ manifest, ...input }: PlanCampaignInput): Promise<CampaignPlan> => {
    const context = Context.current();
    const { campaign } = input;
    const { namespace } = caller(Date.now());
    const signal = context.cancellationSignal;
    let progress: PlanProgress = { results: 0, rows: 0 };
    const heartbeat = startHeartbeat(() => progress);
    const client = accounts.find(input.account)?.client;
    try {
      const plan = await planManifest({
        ...input,
        ...(manifest.format !== undefined && { format: manifest.format }),
        open: manifestBytes(manifest.source, { artifacts, inputRoots, client, signal }),
        models,
        store: artifacts,
        sink: artifacts,
        file: (path) => inputFile(path, artifacts, inputRoots),
        hasJournal: journal !== 'none',
        ...(journal !== 'none' && {
          isBought: async (row) =>
            (await begunBefore(journal, namespace, campaign, row)).begun.bought !== undefined,
          isFirstText: async (row) => {
            const account = accounts.find(row.account ?? input.account);
            if (account === undefined) return false;
            const creationKey = rowCreationKey(campaign, row, 0);
            return isFirstText(
              journal,
              { namespace, creationKey },
              fingerprintOf(row.call, account, new Map()),
            );
          },
        }),
        knowsAccount: (name) => accounts.find(name) !== undefined,
        signal,
        onProgress: (now) => {
          progress = now;
        },
      });
      return { ...plan, ...(createsPerSecond !== undefined && { createsPerSecond }) };
    } catch (error) {
      // What a cancelled plan ends with is Temporal's own word for it.
      if (signal.aborted) await context.cancelled;
      if (!(error instanceof ModelsDownError)) throw error;
      const { message, retryAfterMs } = error;
      throw retryLater({ class: 'configuration_unavailable', message, delayMs: retryAfterMs });
    } finally {
      heartbeat.stop();
    }
  };
}

/** A file that a row names, below the first input root that has it, copied into the store. */
async function inputFile(
  path: string,
  artifacts: ArtifactStore,
  roots: readonly string[],
): Promise<ArtifactRef | undefined> {
  for (const root of roots) {
    const real = await realInputFile(join(root, path), roots);
    if (real === undefined) continue;
    try {
      return (await ingestFile(artifacts, real)).artifact;
    } catch (error) {
      const isOurs = error instanceof ArtifactError;
      if (!isOurs || !['not_media', 'not_readable', 'too_large'].includes(error.code)) throw error;
    }
  }
  return undefined;
}
