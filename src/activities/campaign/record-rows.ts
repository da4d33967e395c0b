import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type FoldResultsInput, type RecordRowsInput } from '../../domain/campaign/activities';
import { type ResultsIndex } from '../../domain/campaign/results';

/** Implements `media.foldResults`: one artifact names many segments, so that no history has to. */
export function createFoldResults({ artifacts }: { readonly artifacts: Pick<ArtifactStore, 'putBuffer'> }) {
  return async ({ segments }: FoldResultsInput): Promise<{ readonly sha256: string }> => {
    const index: ResultsIndex = { v: 1, segments };
    const bytes = Buffer.from(JSON.stringify(index));
    const { sha256 } = await artifacts.putBuffer(bytes, { mediaType: 'application/json' });
    return { sha256 };
  };
}

/**
 * Implements `media.recordRows`: writes rows that ended as a segment, an artifact of JSON lines. A repetition writes
 * the same bytes under the same name.
 */
export function createRecordRows({ artifacts }: { readonly artifacts: Pick<ArtifactStore, 'putBuffer'> }) {
  return async ({ rows }: RecordRowsInput): Promise<{ readonly sha256: string }> => {
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const { sha256 } = await artifacts.putBuffer(Buffer.from(lines), { mediaType: 'application/jsonl' });
    return { sha256 };
  };
}
