import { createHash } from 'node:crypto';
import { fileExtension } from '../artifacts/file-extension';
import { safeName } from '../artifacts/safe-name';
import { type CampaignRowResult } from '../domain/campaign/row';
import { pageNumber, pageOf, type ReportRow } from './page-rows';

/** Files of one row in one folder: with 200 rows of a plan in a page no folder holds more than 1,000 files. */
const FILES_PER_ROW = 5;

/**
 * Where the media of the rows of one page go, by key: `media/0001/KEY~0.mp4`, `media/0001/KEY~0~2.png` for the second
 * of several. Depends on the rows alone, never on the order in which they came; never on a prompt or a word of the
 * service. `~` is in no safe name, so that key, attempt and number cannot be confused.
 */
export function mediaNames(rows: readonly ReportRow[]): ReadonlyMap<string, readonly string[]> {
  const taken = new Map<string, Set<string>>();
  for (const { result } of rows) {
    const name = folded(result);
    taken.set(name, (taken.get(name) ?? new Set()).add(result.key));
  }
  return new Map(
    rows.map(({ result }) => {
      const shared = (taken.get(folded(result))?.size ?? 0) > 1;
      return [result.key, namesOf(result, shared ? distinct(result.key) : safeName(result.key))];
    }),
  );
}

/** The name for a content whose own name is taken by another content. */
export function nextToOther(path: string, sha256: string): string {
  return path.replace(/\.([a-z0-9]+)$/, `~${sha256.slice(0, 12)}.$1`);
}

function namesOf(result: CampaignRowResult, name: string): string[] {
  const { artifacts, attempt, generation } = result;
  return artifacts.map(({ mediaType }, index) => {
    const part = Math.floor(index / FILES_PER_ROW);
    const folder = [
      pageNumber(pageOf(result)),
      ...(generation > 0 ? [`g${generation}`] : []),
      ...(part > 0 ? [`${part + 1}`] : []),
    ].join('-');
    const number = artifacts.length > 1 ? `~${index + 1}` : '';
    return `media/${folder}/${name}~${attempt}${number}.${fileExtension(mediaType)}`;
  });
}

/** As file systems see it that do not tell `A` from `a`. */
function folded({ key }: CampaignRowResult): string {
  return safeName(key).toLowerCase();
}

function distinct(key: string): string {
  return `${safeName(key)}~${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}
