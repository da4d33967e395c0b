import { type ISOFile } from 'mp4box';

type Track = ISOFile['moov']['traks'][number];

/**
 * Whether the chunk tables of a track place every sample: a parser that finds too few entries guesses where the rest
 * lies, and a guess is within the file more often than not.
 */
export function placesEverySample({ mdia }: Pick<Track, 'mdia'>): boolean {
  const { stsz, stz2, stsc, stco, co64 } = mdia.minf.stbl;
  const samples = (stsz ?? stz2)?.sample_sizes.length ?? 0;
  const chunks = (stco ?? co64)?.chunk_offsets.length ?? 0;
  const first = stsc?.first_chunk ?? [];
  let placed = 0;
  for (const [index, from] of first.entries()) {
    const to = first[index + 1] ?? chunks + 1;
    // The last run ends with the last chunk, so that none before it goes further.
    if (from < 1 || to < from) return false;
    placed += (to - from) * (stsc.samples_per_chunk[index] ?? 0);
  }
  // A last chunk that claims too much harms nobody; chunks of a track without a sample do.
  return samples === 0 ? placed === 0 : placed >= samples;
}
