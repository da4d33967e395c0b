import { setTimeout as delay } from 'node:timers/promises';
import { promptHash } from '../../../packages/sandbox/src';
import { type CampaignResult } from '../../../src/domain/campaign/campaign-state';
import { sumOf } from '../../../src/domain/campaign/results';
import { queuesOf, resultsOf, type Row, startCampaign } from '../../support/campaign';
import { PRICE, videos } from '../../support/campaign-books';
import { type MediaStack } from '../../support/media-stack';
import { paidLines } from '../campaign-kills/judge';
import { seededRandom } from '../kills/seeded-random';
import { watchBudget, wrongIn } from './budget-watch';
import { disturb, type Disturbance, DISTURBANCES } from './disturb';

interface Size {
  readonly rows: number;
  /** Rows that there is money for: three quarters of them. */
  readonly paidFor: number;
  readonly inFlight: number;
  readonly rowsPerBatch: number;
}

/** 200 rows at 0.10 with 15 USD. */
const LARGE: Size = { rows: 200, paidFor: 150, inFlight: 30, rowsPerBatch: 50 };
const SMALL: Size = { rows: 60, paidFor: 45, inFlight: 10, rowsPerBatch: 14 };
/** The last disturbance comes while this share of the money is not spent yet. */
const DISTURBED = 0.9;

/** What broke the budget of campaigns that kept it in the memory of workflows. */
const HARDEST: readonly Disturbance[] = [
  'campaigns reset to their first task',
  'campaigns reset to their last task',
  'batches reset by hand',
];
/** One in so many campaigns is large. */
const LARGE_EVERY = 10;

export interface DisturbedRun {
  readonly disturbances: readonly Disturbance[];
  readonly problems: readonly string[];
  readonly bought: number;
  /** Creates that the service accepted beyond those that the budget pays for. */
  readonly aboveBudget: number;
  /** Rows that there was money for, and that were not bought. */
  readonly notBought: number;
  /** Rows that the service accepted more than once. */
  readonly twice: number;
  /** Times the budget was asked for. */
  readonly looks: number;
}

/** Every other campaign has the three that are hardest, at moments of its own; the others have three of any kind. */
export function disturbancesOf(seed: number): readonly Disturbance[] {
  if (seed % 2 === 1) return HARDEST;
  const random = seededRandom(seed);
  return HARDEST.map(() => DISTURBANCES[Math.floor(random() * DISTURBANCES.length)] as Disturbance);
}

/** A queue of its own, for a worker that takes few of its activities at a time. */
export const createQueueOf = ({ taskQueue }: MediaStack): string => `${taskQueue}-creates`;

/** Disturbed three times while its rows are bought. */
export async function runDisturbed(stack: MediaStack, seed: number): Promise<DisturbedRun> {
  const started = Date.now();
  const random = seededRandom(seed + 1_000_000);
  const size = seed % LARGE_EVERY === 1 ? LARGE : SMALL;
  const { paidFor } = size;
  const rows = videos(size.rows, `seed-${seed}`);
  const input = {
    concurrency: Math.ceil(size.inFlight * (0.7 + random())),
    rowsPerBatch: Math.ceil(size.rowsPerBatch * (0.7 + random())),
    budget: { microUnits: paidFor * PRICE, currency: 'USD' },
    queues: { ...queuesOf(stack), create: createQueueOf(stack) },
  };
  const { workflowId: id } = await startCampaign(stack, rows, input);
  const handle = stack.server.client.workflow.getHandle(id);
  const watch = watchBudget(handle);
  const disturbances = disturbancesOf(seed);
  const happened: Disturbance[] = [];
  for (const [place, what] of disturbances.entries()) {
    await untilBought(stack, rows, ((place + random()) / disturbances.length) * DISTURBED * paidFor);
    const campaign = { id, rows, input };
    await disturb(stack, campaign, what, random);
    happened.push(what);
  }
  const result = (await handle.result()) as CampaignResult;
  const { looks, problems } = await watch.end();
  process.stdout.write(`seed ${seed}: ${Date.now() - started} ms; ${happened.join(', ')}\n`);
  const counts = await acceptedOf(stack, rows);
  const bought = counts.reduce((sum, count) => sum + count, 0);
  return {
    disturbances: happened,
    problems: [...problems, ...(await wrongResults(stack, rows, paidFor, result, counts))],
    bought,
    aboveBudget: Math.max(0, bought - paidFor),
    notBought: Math.max(0, paidFor - bought),
    twice: counts.filter((count) => count > 1).length,
    looks,
  };
}

/** Accepted creates of each row, by the service's own count. */
async function acceptedOf(stack: MediaStack, rows: readonly Row[]): Promise<number[]> {
  const { acceptedByPromptHash } = await stack.sandbox.admin.counters();
  return rows.map(({ prompt }) => acceptedByPromptHash[promptHash(prompt as string)] ?? 0);
}

async function untilBought(stack: MediaStack, rows: readonly Row[], count: number): Promise<void> {
  for (;;) {
    const accepted = await acceptedOf(stack, rows);
    if (accepted.reduce((sum, one) => sum + one, 0) >= count) return;
    await delay(150);
  }
}

/** Every row has one line, which says what the service says, and the totals are those of the lines. */
async function wrongResults(
  stack: MediaStack,
  rows: readonly Row[],
  paidFor: number,
  { counts, money, results, budget }: CampaignResult,
  accepted: readonly number[],
): Promise<string[]> {
  const wrong = budget === null ? ['no budget in the result'] : wrongIn(budget);
  const lines = await resultsOf(stack, results);
  for (const [place, { id }] of rows.entries()) {
    const line = lines.get(id as string);
    const booked = line === undefined ? -1 : paidLines(line).length;
    if (booked !== accepted[place])
      wrong.push(
        `${String(id)} (${line?.outcome ?? 'no line'}): ${accepted[place]} accepted, ${booked} booked`,
      );
  }
  const spent = sumOf(money);
  const sum = accepted.reduce((all, one) => all + one, 0);
  if (spent !== sum * PRICE) wrong.push(`${spent} micro-units on the books of ${sum} rows`);
  const { completed = 0, skipped_budget: skipped = 0 } = counts;
  if (completed !== paidFor || skipped !== rows.length - paidFor)
    wrong.push(`${JSON.stringify(counts)} of ${rows.length} rows, with money for ${paidFor}`);
  return wrong;
}
