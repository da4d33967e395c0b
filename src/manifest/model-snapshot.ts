import { type ModelEntry, type ModelLookup } from '../domain/model-config';
import { type ModelSource } from '../models/model-source';
import { ModelsDownError } from './manifest-errors';

export type ModelKind = ModelEntry['kind'];

/** Most cached models; the configuration is read again for each further name. */
const MOST = 10_000;

/** Caches the configuration of each model, so that all rows of a manifest are validated by the same version. */
export class ModelSnapshot {
  readonly #known = new Map<string, ModelLookup>();

  constructor(private readonly models: Pick<ModelSource, 'lookup'>) {}

  /** @throws ModelsDownError */
  async lookup(model: string, kind?: ModelKind): Promise<ModelLookup> {
    // A refusal lists the models of one kind; an entry is the same for both kinds.
    const refusalKey = `${kind ?? ''} ${model}`;
    const known = this.#known.get(model) ?? this.#known.get(refusalKey);
    if (known !== undefined) return known;
    const found = await this.models.lookup(model, kind);
    if (found.found === 'unavailable') throw new ModelsDownError(found.message, found.retryAfterMs);
    if (this.#known.size < MOST) this.#known.set(found.found === 'refused' ? refusalKey : model, found);
    return found;
  }

  async kindOf(model: string): Promise<ModelKind | undefined> {
    const found = await this.lookup(model);
    return found.found === 'entry' ? found.entry.kind : undefined;
  }
}
