import { join } from 'node:path';
import { type PaidDeps } from '../../src/activities/paid-context';
import { RefusalGate } from '../../src/activities/refusal-gate';
import { type MediaClient } from '../../src/service/media-client';
import { accountRegistry } from '../../src/settings/accounts';
import { createModelSource } from '../../src/settings/model-source';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { alwaysBound } from '../support/queue-binding';

/**
 * What paid activities are made with where no server runs: a store in this folder, a journal that its queue belongs to, no
 * models. @param client of the one account; none is configured without it
 */
export function paidDeps(folder: string, journal: PaidDeps['journal'], client?: MediaClient): PaidDeps {
  return {
    accounts: accountRegistry(
      client === undefined ? [] : [{ name: 'default@00000000', client, hasKey: async () => true }],
    ),
    artifacts: new FileArtifactStore(join(folder, 'artifacts')),
    models: createModelSource(),
    journal,
    checkBinding: alwaysBound,
    policy: undefined,
    gate: new RefusalGate(),
    inputRoots: [],
  };
}
