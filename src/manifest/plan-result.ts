import { type CampaignPlan, type PlannedModel, type PlanRefusal } from '../domain/campaign/plan';
import { addMoney, type MoneyTotals, NO_MONEY } from '../domain/campaign/results';
import { type LedgerLine } from '../domain/campaign/row';
import { moneyOfAttempts } from '../domain/campaign/row-result';
import { type Money } from '../domain/money';
import { type PaidRequest } from '../domain/request';
import { emptyIndex, type PlanSink } from './page-writer';

/** How many models a plan lists. All others are combined in one line. */
const MOST_MODELS = 100;
const OTHER_MODELS = '(other models)';
const SHOWN = 5;

/** Sums a plan's estimates by model. Rows whose attempt is already bought are counted separately. */
export class PlanTally {
  readonly #models = new Map<string, PlannedModel>();
  /** Attempts that are already bought, by currency. They do not count against a budget. */
  readonly #started = new Map<string, { readonly rows: number; readonly estimate: number }>();
  #startedRows = 0;
  #booked = NO_MONEY;
  readonly #currencies = new Set<string>();
  /**
   * Models without a price, including those of rows that a limit postpones. Such rows can cause a refusal, but are not
   * part of the sum.
   */
  readonly #unpricedModels = new Set<string>();
  /** Other workers' accounts, whose prices are unknown here. */
  readonly #elsewhere = new Set<string>();

  /**
   * @param now false for a row that a limit postpones
   * @param elsewhere the account, if only another worker has it
   */
  add({ operation, request }: PaidRequest, estimate: Money | null, now: boolean, elsewhere?: string): void {
    if (estimate !== null) this.#currencies.add(estimate.currency);
    else if (elsewhere !== undefined) {
      if (this.#elsewhere.size < MOST_MODELS) this.#elsewhere.add(elsewhere);
    } else if (this.#unpricedModels.size < MOST_MODELS) this.#unpricedModels.add(request.model);
    if (!now) return;
    const name = `${operation} ${request.model}`;
    const isNew = !this.#models.has(name);
    const key = isNew && this.#models.size >= MOST_MODELS ? `${operation} ${OTHER_MODELS}` : name;
    const model = key === name ? request.model : OTHER_MODELS;
    const sum = this.#models.get(key) ?? { model, operation, rows: 0, estimate: 0, unpriced: 0 };
    this.#models.set(key, {
      ...sum,
      rows: sum.rows + 1,
      estimate: sum.estimate + (estimate?.microUnits ?? 0),
      unpriced: sum.unpriced + (estimate === null ? 1 : 0),
    });
  }

  addStarted(estimate: Money | null): void {
    this.#startedRows += 1;
    if (estimate === null) return;
    const { rows, estimate: sum } = this.#started.get(estimate.currency) ?? { rows: 0, estimate: 0 };
    this.#started.set(estimate.currency, { rows: rows + 1, estimate: sum + estimate.microUnits });
  }

  /** Adds a planned row's earlier attempts. */
  addBooked(attempts: readonly LedgerLine[]): void {
    this.#booked = addMoney(this.#booked, moneyOfAttempts(attempts));
  }

  get booked(): MoneyTotals {
    return this.#booked;
  }

  get started(): CampaignPlan['started'] {
    const { rows, estimate } = this.#started.get(this.currency ?? '') ?? { rows: 0, estimate: 0 };
    return { rows: this.#startedRows, estimate, unpriced: this.#startedRows - rows };
  }

  get models(): readonly PlannedModel[] {
    return [...this.#models.values()];
  }

  get estimate(): number {
    return this.models.reduce((sum, { estimate }) => sum + estimate, 0);
  }

  get unpriced(): number {
    return this.models.reduce((sum, { unpriced }) => sum + unpriced, 0);
  }

  get currency(): string | null {
    return [...this.#currencies, ...this.#started.keys()][0] ?? null;
  }

  /** The reason for refusing a plan with these prices; undefined if the plan is acceptable. */
  refusal(budget: Money | undefined): PlanRefusal | undefined {
    const currencies = [...this.#currencies].sort();
    if (currencies.length > 1)
      return {
        reason: 'mixed_currencies',
        message: `The rows have prices in ${currencies.join(', ')}, but a campaign can have only one currency. Split the manifest.`,
      };
    if (budget === undefined) return undefined;
    const unpriced = [...this.#unpricedModels];
    if (unpriced.length > 0) {
      return {
        reason: 'unpriced_models',
        message: `A budget needs a price for every row, but some rows of these models have none: ${someOf(unpriced)}. Add price rules to the model configuration, or omit the budget.`,
      };
    }
    if (this.#elsewhere.size > 0) {
      return {
        reason: 'unpriced_models',
        message: `A budget needs a price for every row, but the planning worker does not know the prices for these accounts, which only other workers have: ${someOf([...this.#elsewhere])}. Start a separate campaign for each account, or omit the budget.`,
      };
    }
    const [currency] = currencies;
    if (currency === undefined || currency === budget.currency) return undefined;
    return {
      reason: 'budget_currency',
      message: `The budget is in ${budget.currency}, but the prices are in ${currency}. Use the same currency.`,
    };
  }
}

const someOf = (names: readonly string[]): string =>
  `${names.slice(0, SHOWN).join(', ')}${names.length > SHOWN ? ' and others' : ''}`;

/** Creates an empty, refused plan for a manifest that could not be read to the end. */
export async function refusedPlan(
  { generation }: Pick<CampaignPlan, 'generation'>,
  manifest: string | undefined,
  sink: PlanSink,
  refused: PlanRefusal,
  issues: CampaignPlan['issues'] = [],
): Promise<CampaignPlan> {
  return {
    v: 1,
    generation,
    manifest: manifest ?? '',
    rows: 0,
    planned: 0,
    done: 0,
    left: 0,
    invalid: 0,
    issues,
    issuesFile: null,
    changed: { rows: 0, keys: [] },
    pages: 0,
    index: await emptyIndex(sink),
    currency: null,
    estimate: 0,
    unpriced: 0,
    started: { rows: 0, estimate: 0, unpriced: 0 },
    booked: NO_MONEY,
    models: [],
    refused,
  };
}
