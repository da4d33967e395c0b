import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type MediaConfig } from '../../config';
import { type CampaignInput, type CampaignPlan } from '../../domain/campaign/plan';
import { ModelsDownError } from '../../manifest/manifest-text';
import { planManifest } from '../../manifest/plan-manifest';
import { CliError } from '../cli-error';
import { modelsInForce, type ModelsInForce } from '../models/models-in-force';
import { type Report } from '../report';
import { issueSink } from './issue-sink';
import { type LocalFiles } from './local-files';

/** What a campaign would be, judged on this machine; nothing is sent, stored or started. */
export interface PlanHere {
  readonly campaign: string;
  readonly input: Omit<CampaignInput, 'manifest' | 'carried'>;
  readonly format?: 'csv' | 'jsonl' | undefined;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
  readonly store: Pick<ArtifactStore, 'read' | 'has'>;
  /** Files that rows name; absent for a manifest whose files are stored already. */
  readonly files?: LocalFiles;
}

/** @throws CliError `models_unavailable` */
export async function planHere(
  report: Report,
  models: ModelsInForce,
  { campaign, input, format, open, store, files }: PlanHere,
): Promise<CampaignPlan> {
  const { account, select = { rows: 'missing' }, limit, sample, budget, previous } = input;
  try {
    return await planManifest({
      campaign,
      select,
      onInvalid: input.onInvalid ?? 'fail',
      rebuyChanged: input.rebuyChanged ?? false,
      generation: previous === undefined ? 0 : previous.generation + 1,
      ...(account !== undefined && { account }),
      ...(limit !== undefined && { limit }),
      ...(sample !== undefined && { sample }),
      ...(budget !== undefined && { budget }),
      ...(previous !== undefined && { previous }),
      ...(format !== undefined && { format }),
      open,
      store,
      models: models.source,
      sink: issueSink(report),
      ...(files !== undefined && { file: (path: string) => files.find(path) }),
    });
  } catch (error) {
    if (error instanceof ModelsDownError) throw new CliError('models_unavailable', error.message);
    throw error;
  }
}

/** The models as the worker knows them; undefined where this machine knows none, and only the worker can judge. */
export async function modelsKnownHere(
  config: MediaConfig,
  env: NodeJS.ProcessEnv,
): Promise<ModelsInForce | undefined> {
  const models = await modelsInForce(config, env);
  return models.origin.origin === 'none' ? undefined : models;
}

/** The one currency of all prices; undefined when there are several or none. */
export function currencyOf({ entries }: ModelsInForce): string | undefined {
  const currencies = new Set(entries.flatMap(({ price }) => (price === undefined ? [] : [price.currency])));
  const [only] = currencies;
  return currencies.size === 1 ? only : undefined;
}
