import { ledgerMoney } from 'temporal-media/internal/domain/campaign/row-result';
import { type MoneyTotals, type CampaignRowResult } from 'temporal-media';
import { type ReportRow } from './page-rows';

/** A line of `results.jsonl`, without the prompt and without messages of the service, which may repeat it. */
export interface ResultRecord extends Omit<CampaignRowResult, 'artifacts' | 'message' | 'page' | 'index'> {
  /** Attempts of all plans, including those proved to cost nothing. */
  readonly attempts: number;
  /** The files of the row, in the order of its results. */
  readonly files: readonly ResultFile[];
  /** Micro-units of `currency`, all attempts together. */
  readonly money: MoneyTotals & { readonly currency: string | null };
}

export interface ResultFile {
  /** Relative to the folder, with slashes; null when the store did not have it. */
  readonly path: string | null;
  readonly sha256: string;
  readonly bytes: number;
  readonly mediaType: string;
}

export function resultRecord({ result, files }: ReportRow, currency: string | null): ResultRecord {
  const { artifacts, message: _words, page: _page, index: _index, ...facts } = result;
  return {
    ...facts,
    attempts: result.ledger.length,
    files: artifacts.map(({ sha256, bytes, mediaType }, index) => ({
      path: files?.[index] ?? null,
      sha256,
      bytes,
      mediaType,
    })),
    money: { currency, ...ledgerMoney(result.ledger) },
  };
}
