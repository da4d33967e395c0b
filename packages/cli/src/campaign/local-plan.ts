import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import {
  type CampaignInput,
  type CampaignPlan,
  type ManifestIssue,
  type Money,
  type MoneyTotals,
  type PlannedModel,
} from 'temporal-media';
import { GIVES_NONE } from 'temporal-media/internal/activities/sources';
import { DEFAULT_MAX_ATTEMPTS } from 'temporal-media/internal/domain/campaign/plan';
import { sumOf } from 'temporal-media/internal/domain/campaign/results';
import { given } from 'temporal-media/internal/domain/json';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { artifactUri } from 'temporal-media/internal/domain/request';
import { planManifest } from 'temporal-media/internal/manifest/plan-manifest';
import { ModelsDownError } from 'temporal-media/internal/manifest/row-lookups';
import { type ArtifactStore } from 'temporal-media/stores';
import { CliError } from '../shared/errors';
import { type ShownPlan } from '../shared/json-output';
import { type ModelsInForce } from '../shared/models-in-force';
import { type Report } from '../shared/report';
import { type LocalFiles } from './manifest';
import { moneyTotalsText, plainKey } from './text';

/** Limits on a plan's cost. */
export interface SpendBounds {
  /** Maximum attempts per row after capacity failures. Each attempt may be billed. */
  readonly maxAttempts?: number | undefined;
  readonly budget?: Money | undefined;
}

/** Returns a plan's maximum cost including retries, capped at the budget. Null means unknown. */
export function mostOf(plan: CampaignPlan, { maxAttempts, budget }: SpendBounds): Money | null {
  return mostSpent(withRetries(plan, maxAttempts), budget);
}

/**
 * Returns the cost, ignoring any budget, if every row uses all of its attempts and each one is billed. Null means
 * unknown.
 */
function withRetries(
  {
    estimate,
    unpriced,
    started,
    currency,
  }: Pick<CampaignPlan, 'estimate' | 'unpriced' | 'started' | 'currency'>,
  maxAttempts = DEFAULT_MAX_ATTEMPTS,
): Money | null {
  // A started row's first attempt is already paid for.
  const more = maxAttempts - 1;
  const sum = estimate * maxAttempts + started.estimate * more;
  if (unpriced > 0 || (more > 0 && started.unpriced > 0)) return null;
  return currency === null || !Number.isSafeInteger(sum) ? null : { microUnits: sum, currency };
}

/** Whether a plan might incur new costs. */
export function mayCost({ models, started }: CampaignPlan, maxAttempts = DEFAULT_MAX_ATTEMPTS): boolean {
  return models.length > 0 || (started.rows > 0 && maxAttempts > 1);
}

/** Caps a sum at the budget. */
export function mostSpent(sum: Money | null, budget: Money | undefined): Money | null {
  if (budget === undefined) return sum;
  if (sum !== null && sum.currency === budget.currency)
    return sum.microUnits < budget.microUnits ? sum : budget;
  return budget;
}

/** A campaign to plan on this machine without sending, storing or starting anything. */
export interface PlanHere {
  readonly campaign: string;
  readonly input: Omit<CampaignInput, 'manifest' | 'carried'>;
  readonly format?: 'csv' | 'jsonl' | undefined;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
  readonly store: Pick<ArtifactStore, 'read' | 'has' | 'presign'>;
  /** Finds the local files that rows refer to. Absent when the manifest's files are already stored. */
  readonly files?: LocalFiles;
}

/**
 * Plans a campaign. Without known models, only the format of each row is validated. @throws CliError
 * `models_unavailable`
 */
export async function planHere(
  report: Report,
  models: ModelsInForce,
  { campaign, input, format, open, store, files }: PlanHere,
): Promise<CampaignPlan> {
  const { account, select = { rows: 'missing' }, limit, sample, budget, previous } = input;
  try {
    return await planManifest({
      campaign,
      select,
      onInvalid: input.onInvalid ?? 'fail',
      rebuyChanged: input.rebuyChanged ?? false,
      generation: previous === undefined ? 0 : previous.generation + 1,
      ...given({ account, limit, sample, previous, format }),
      // A budget can be checked only against known prices.
      ...(models.origin.origin !== 'none' && given({ budget })),
      open,
      store,
      models: models.source,
      modelsOf: models.sourceOf,
      sink: issueSink(report),
      unaddressable: () => Promise.resolve(store.presign === undefined ? GIVES_NONE : undefined),
      ...(files !== undefined && { file: (path: string) => files.find(path) }),
    });
  } catch (error) {
    if (error instanceof ModelsDownError) throw new CliError('models_unavailable', error.message);
    throw error;
  }
}

/** Returns the single currency of all prices, or undefined when there are several or none. */
export function currencyOf({ entries }: ModelsInForce): string | undefined {
  const currencies = new Set(entries.flatMap(({ price }) => (price === undefined ? [] : [price.currency])));
  const [only] = currencies;
  return currencies.size === 1 ? only : undefined;
}

export function shownPlan({ index: _index, issuesFile: _file, ...plan }: CampaignPlan): ShownPlan {
  return plan;
}

/** Describes what would be bought. Does not include issues. */
export function planLines(plan: ShownPlan, bounds: SpendBounds = {}): string[] {
  const { rows, planned, done, left, invalid, changed, currency } = plan;
  const isRefused = plan.refused !== undefined;
  const parts = [isRefused ? 'none planned' : `${planned} to do`];
  if (done > 0) parts.push(`${done} with a result`);
  if (left > 0) parts.push(`${left} left for later`);
  if (invalid > 0) parts.push(`${invalid} invalid`);
  const lines = [`rows: ${rows} in the manifest, ${parts.join(', ')}`];
  for (const model of plan.models) lines.push(`  ${modelLine(model, currency)}`);
  if (changed.rows > 0)
    lines.push(
      `changed: ${changed.rows} bought with different text (${changed.keys.slice(0, 5).map(plainKey).join(', ')}${changed.rows > 5 ? ', …' : ''})`,
    );
  // A refused plan buys nothing, so it has no estimate.
  return isRefused ? lines : [...lines, ...moneyLines(plan, bounds)];
}

function moneyLines(plan: ShownPlan, bounds: SpendBounds): string[] {
  const { models, estimate, unpriced, started, booked, currency } = plan;
  const lines: string[] = [];
  if (models.length > 0) lines.push(`estimate: ${sumText(estimate, unpriced, currency)}`);
  else if (started.rows === 0) lines.push('Nothing needs to be bought.');
  else lines.push(`Nothing new needs to be bought: ${started.rows} of the rows already have a task.`);
  const most = mostText(plan, bounds);
  if (most !== null) lines.push(most);
  const before = bookedText(booked, currency);
  if (before !== null) lines.push(before);
  return lines;
}

/** Describes what retries might cost. Null when nothing can be retried and only the estimate applies. */
function mostText(
  plan: ShownPlan,
  { maxAttempts = DEFAULT_MAX_ATTEMPTS, budget }: SpendBounds,
): string | null {
  const { models, estimate, unpriced, started } = plan;
  const retries = maxAttempts > 1;
  const why = `after capacity failures, a row is attempted up to ${maxAttempts} times (--max-attempts), and each attempt may be charged.`;
  const sum = withRetries(plan, maxAttempts);
  if (budget !== undefined && (sum === null || budget.microUnits < sum.microUnits)) {
    const bound = `at most ${formatMoney(budget)}, its budget`;
    if (!retries) return `It may cost ${bound}.`;
    const without =
      sum === null || sum.microUnits <= estimate
        ? '.'
        : `. Without a budget, it could cost ${formatMoney(sum)}: ${why}`;
    return `With retries it may cost ${bound}${without}`;
  }
  if (!retries || (models.length === 0 && started.rows === 0)) return null;
  if (sum !== null)
    return sum.microUnits === 0 ? null : `With retries it may cost at most ${formatMoney(sum)}: ${why}`;
  const rows = unpriced + started.unpriced;
  return `The maximum cost is unknown because ${rowsText(rows)} no known price and there is no budget: ${why}`;
}

/** Describes the cost of earlier attempts, which the estimate excludes. Null when they cannot have cost anything. */
export function bookedText(booked: MoneyTotals, currency: string | null): string | null {
  if (sumOf(booked) === 0 && booked.unknown === 0) return null;
  return `Earlier attempts of these rows may already have been charged and are not in the estimate: ${moneyTotalsText(booked, currency)}.`;
}

function modelLine(
  { model, operation, rows, estimate, unpriced }: PlannedModel,
  currency: string | null,
): string {
  const kind = { create_video: 'video', generate_image: 'image', edit_image: 'edit' }[operation];
  return `${plainKey(model)} (${kind}): ${rows} row${rows === 1 ? '' : 's'}, ${sumText(estimate, unpriced, currency)}`;
}

function rowsText(rows: number): string {
  return rows === 1 ? '1 row has' : `${rows} rows have`;
}

/** Describes a sum, and how many rows it excludes because their price is unknown. */
function sumText(estimate: number, unpriced: number, currency: string | null): string {
  const amount = formatMoney({ microUnits: estimate, currency });
  if (unpriced === 0) return amount;
  const known = estimate === 0 ? '' : `${amount} and `;
  return `${known}${unpriced} row${unpriced === 1 ? '' : 's'} without a known price`;
}

/** Maximum number of issues shown in text. `-o jsonl` lists all of them. */
const SHOWN_LINES = 20;

/** `line 12, duration (row sku-7): message Allowed: 2, 4.` */
export function issueLine({ line, column, message, allowed, id }: ManifestIssue): string {
  const place = [`line ${line}`, ...(column === null ? [] : [plainKey(column)])].join(', ');
  const row = id === undefined ? '' : ` (row ${plainKey(id)})`;
  const listed = allowed === undefined || allowed.length === 0 ? '' : ` Allowed: ${allowed.join(', ')}.`;
  return `${place}${row}: ${message}${listed}`;
}

/** Returns a plan's first issues, one per line, and the number of other rows with issues. */
export function issueLines({ issues, invalid }: Pick<CampaignPlan, 'issues' | 'invalid'>): string[] {
  const lines = issues.slice(0, SHOWN_LINES).map(issueLine);
  const rows = new Set(issues.slice(0, SHOWN_LINES).map(({ line }) => line)).size;
  if (rows < invalid) lines.push(`… and ${invalid - rows} more rows; --dry-run -o jsonl lists all of them.`);
  return lines;
}

const NOTHING = '0'.repeat(64);
const KEPT = { uri: artifactUri(NOTHING), mediaType: 'application/octet-stream', bytes: 0, sha256: NOTHING };

/** Discards everything that planning writes. With `-o jsonl`, it still prints every manifest issue as an event. */
export function issueSink(report: Report): Pick<ArtifactStore, 'putBuffer' | 'putStream'> {
  return {
    putBuffer: async () => KEPT,
    putStream: async (source) => {
      // The planner writes only one stream: the issues.
      for await (const line of createInterface({ input: Readable.from(source) })) {
        const issue = JSON.parse(line) as ManifestIssue;
        report.event('issue', issue);
      }
      return KEPT;
    },
  };
}
