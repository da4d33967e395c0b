import { type CampaignInput } from '../domain/campaign/plan';
import { type CampaignResult, type CampaignUpdates } from '../domain/campaign/state';
import { type KeysOf } from '../domain/known-keys';
import { type CampaignStart } from './campaign-records';
import { type Started } from './options';

/** Names of the Updates of a campaign; `pause`, `resume` and `cancel` take nothing. */
export type CampaignOrder = keyof CampaignUpdates | 'pause' | 'resume' | 'cancel';

/** What an order takes. */
export type OrderInput<Order extends CampaignOrder> = Order extends keyof CampaignUpdates
  ? [CampaignUpdates[Order]]
  : [];

/** What may be changed when a campaign is taken up again. */
export type CampaignChanges = Pick<CampaignStart, 'concurrency' | 'budget' | 'waitFor' | 'maxAttempts'>;

export const CHANGE_KEYS = {
  concurrency: true,
  budget: true,
  waitFor: true,
  maxAttempts: true,
} satisfies KeysOf<CampaignChanges>;

/** How a campaign is taken up. */
export interface TakeUpOptions extends CampaignChanges {
  /**
   * Called before anything is ordered or started, with what is about to be planned: earlier results and selection
   * included. What it throws keeps everything from happening.
   */
  readonly confirm?: (input: CampaignInput) => Promise<void>;
}

/** How a campaign goes on. */
export interface TakenUp {
  /** `order`: the campaign runs and was told so. `start`: a new run under the same id. `nothing`: no row needs it. */
  readonly by: 'order' | 'start' | 'nothing';
  /** Rows that were taken up; null where only the plan of the new run will tell. */
  readonly rows: number | null;
  /** What the campaign answered, for a person. */
  readonly messages: readonly string[];
  readonly started: Started<CampaignResult>;
}
