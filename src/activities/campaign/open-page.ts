import {
  type OpenedPage,
  type OpenedRow,
  type PageAddress,
  type RowSpec,
} from '../../domain/campaign/activities';
import { type CampaignRow } from '../../domain/campaign/row';
import { referenceModeOf } from '../../domain/media';
import { type PageReader } from './page-reader';

/**
 * The body of `media.openPage`: what a lane must know of the rows of a page. Prompts, sources and model-specific fields
 * stay in the artifact, because this answer enters a history (C5.4c).
 */
export function createOpenPage({ pages }: { readonly pages: PageReader }) {
  return async ({ index, page }: PageAddress): Promise<OpenedPage> => {
    const { rows } = await pages.page({ index, page });
    const numbers = new Map<string, number>();
    const specs: RowSpec[] = [];
    const opened = rows.map((row): OpenedRow => {
      const spec = specOf(row);
      const name = JSON.stringify(spec);
      const number = numbers.get(name) ?? specs.push(spec) - 1;
      numbers.set(name, number);
      const { line, key, content, attempt, rebought, changed, was } = row;
      return {
        row: row.row,
        line,
        key,
        content,
        spec: number,
        ...(attempt > 0 && { attempt }),
        ...(rebought === true && { rebought }),
        ...(changed === true && { changed }),
        ...(was !== undefined && { was }),
      };
    });
    return { specs, rows: opened };
  };
}

function specOf({ call, account, estimate }: CampaignRow): RowSpec {
  const video = call.operation === 'create_video' ? call.request : undefined;
  return {
    operation: call.operation,
    model: call.request.model,
    account: account ?? null,
    durationSeconds: video?.durationSeconds ?? null,
    resolution: video?.resolution ?? null,
    referenceMode: video === undefined ? null : referenceModeOf(video.references),
    estimate,
  };
}
