import { type ArtifactStore } from '../artifacts/artifact-store';
import { type ResultsIndex, type ResultsRef } from '../domain/campaign/results';
import { type CampaignRowResult } from '../domain/campaign/row';
import { ReportError } from './report-error';

/** A JSON artifact of ours, whole. Prompts may be in it: errors say nothing of its text. */
export async function readJsonArtifact<T>(store: ArtifactStore, sha256: string): Promise<T> {
  return parse<T>(await readText(store, sha256));
}

/** The rows of a segment in their order; verified before the first is used. */
export async function readSegment(
  store: ArtifactStore,
  sha256: string,
): Promise<readonly CampaignRowResult[]> {
  const lines = (await readText(store, sha256)).split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const row = parse<CampaignRowResult>(line);
    if (!Number.isSafeInteger(row.row) || row.row < 0 || typeof row.key !== 'string')
      throw new ReportError('unreadable', 'A line of the results is none.');
    return row;
  });
}

/** Segments that are not known yet, in order; an index whose segments are all known is not opened. */
export async function* newSegments(
  store: ArtifactStore,
  results: ResultsRef,
  isKnown: { segment(sha256: string): boolean; index(sha256: string): boolean },
): AsyncGenerator<{ readonly segment: string } | { readonly index: string }> {
  for (const index of results.indexes) {
    if (isKnown.index(index)) continue;
    const { segments } = await readJsonArtifact<ResultsIndex>(store, index);
    for (const segment of segments) if (!isKnown.segment(segment)) yield { segment };
    yield { index };
  }
  for (const segment of results.segments) if (!isKnown.segment(segment)) yield { segment };
}

async function readText(store: ArtifactStore, sha256: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await store.read({ sha256 })) pieces.push(piece as Uint8Array);
  return Buffer.concat(pieces).toString('utf8');
}

function parse<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ReportError('unreadable', 'An artifact of the campaign is no JSON.');
  }
}
