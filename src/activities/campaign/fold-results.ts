import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type FoldResultsInput } from '../../domain/campaign/activities';
import { type ResultsIndex } from '../../domain/campaign/results';

/** The body of `media.foldResults`: one artifact names many segments, so that no history has to. */
export function createFoldResults({ artifacts }: { readonly artifacts: Pick<ArtifactStore, 'putBuffer'> }) {
  return async ({ segments }: FoldResultsInput): Promise<{ readonly sha256: string }> => {
    const index: ResultsIndex = { v: 1, segments };
    const bytes = Buffer.from(JSON.stringify(index));
    const { sha256 } = await artifacts.putBuffer(bytes, { mediaType: 'application/json' });
    return { sha256 };
  };
}
