import { type Money } from '../domain/billing';
import { type ManifestIssue } from '../domain/campaign/plan';
import { type CampaignRow } from '../domain/campaign/row';
import { type PaidRequest } from '../domain/request';
import { estimateFor } from '../models/price-of';
import { judgeRow, type ReadRow } from './judge-row';
import { type ModelSnapshot } from './model-snapshot';
import { type PreviousResults } from './previous-results';
import { readManifest } from './read-manifest';
import { RowKeys } from './row-keys';
import { type SourceLookup } from './sources';
import { takeUp, type TakeUpRules } from './take-up';

/** One row of a manifest, read, judged and joined with its earlier results. */
export type JudgedRow =
  | { readonly kind: 'invalid'; readonly issues: readonly ManifestIssue[] }
  | { readonly kind: 'stands' | 'not_asked' }
  | {
      readonly kind: 'taken';
      readonly row: CampaignRow;
      readonly call: PaidRequest;
      /** Null means unknown. */
      readonly price: Money | null;
      /** Bought already: what it costs is on the books. */
      readonly hasTask: boolean;
    };

export interface JudgeOptions extends TakeUpRules {
  readonly format?: 'csv' | 'jsonl';
  readonly models: ModelSnapshot;
  readonly sources: SourceLookup;
  readonly earlier: PreviousResults;
  knowsAccount(name: string): boolean;
}

export async function* judgedRows(
  bytes: AsyncIterable<Uint8Array>,
  options: JudgeOptions,
): AsyncGenerator<JudgedRow> {
  const { models, sources, earlier } = options;
  const judge = {
    models,
    sources,
    keys: new RowKeys(),
    knowsAccount: (name: string) => options.knowsAccount(name),
  };
  let place = 0;
  for await (const written of readManifest(bytes, options.format)) {
    const number = place++;
    const read = await judgeRow(written, judge);
    if ('issues' in read) {
      yield { kind: 'invalid', issues: read.issues };
      continue;
    }
    const taken = await takeUp(read, earlier.find(read.key), options);
    if (taken.kind !== 'taken') {
      yield taken;
      continue;
    }
    const { attempt, rebought, changed, was, mayBeBought, hasTask } = taken;
    // What was bought is collected, whatever the configuration has come to say since.
    if (read.modelIssues.length > 0 && !mayBeBought) {
      yield { kind: 'invalid', issues: read.modelIssues };
      continue;
    }
    const price = await priceOf(read, models);
    const row: CampaignRow = {
      row: number,
      line: read.line,
      key: read.key,
      content: read.content,
      call: read.call,
      ...(read.account !== undefined && { account: read.account }),
      estimate: price?.microUnits ?? null,
      attempt,
      ...(rebought === true && { rebought }),
      ...(changed === true && { changed }),
      ...(was !== undefined && { was }),
    };
    yield { kind: 'taken', row, call: read.call, price, hasTask };
  }
}

async function priceOf({ call }: ReadRow, models: ModelSnapshot): Promise<Money | null> {
  const lookup = await models.lookup(
    call.request.model,
    call.operation === 'create_video' ? 'video' : 'image',
  );
  return estimateFor(call, lookup.found === 'entry' ? lookup.entry : undefined);
}
