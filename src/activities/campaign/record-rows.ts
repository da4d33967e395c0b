import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type RecordRowsInput } from '../../domain/campaign/activities';

/**
 * The body of `media.recordRows`: rows that ended become a segment, an artifact of JSON lines. Repeated, it writes the
 * same bytes under the same name.
 */
export function createRecordRows({ artifacts }: { readonly artifacts: Pick<ArtifactStore, 'putBuffer'> }) {
  return async ({ rows }: RecordRowsInput): Promise<{ readonly sha256: string }> => {
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const { sha256 } = await artifacts.putBuffer(Buffer.from(lines), { mediaType: 'application/jsonl' });
    return { sha256 };
  };
}
