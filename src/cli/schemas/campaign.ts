import { z } from 'zod';
import { ROW_OUTCOMES } from '../../domain/campaign/row';
import { artifactRef, billing, json, reportedFacts, requestedFacts, taskError, time } from './outcomes';

const operation = z.enum(['create_video', 'generate_image', 'edit_image']);
const microUnits = z.number().describe('integer micro-units');
const rowOutcome = z.enum(ROW_OUTCOMES);
const currency = z.string().nullable();
const moneyOfCurrency = z.object({ microUnits: z.number(), currency: z.string() });

const rowCounts = z
  .object({
    completed: z.exactOptional(z.number()),
    failed: z.exactOptional(z.number()),
    still_running: z.exactOptional(z.number()),
    content_unavailable: z.exactOptional(z.number()),
    task_unknown: z.exactOptional(z.number()),
    unconfirmed: z.exactOptional(z.number()),
    rejected: z.exactOptional(z.number()),
    results_lost: z.exactOptional(z.number()),
    cancelled: z.exactOptional(z.number()),
    skipped_budget: z.exactOptional(z.number()),
    changed: z.exactOptional(z.number()),
  })
  .describe('rows by outcome; an outcome without rows is absent');

const money = z
  .object({
    settled: microUnits,
    reserved: microUnits,
    needsReview: microUnits,
    unknown: z.number().describe('attempts without a known price'),
  })
  .describe('all attempts of all rows, in one currency');

/** One problem of a row of a manifest. */
export const manifestIssue = z.object({
  line: z.number().describe('in the manifest, from 1'),
  column: z.string().nullable().describe('null for the whole row'),
  message: z.string(),
  allowed: z.exactOptional(z.array(z.string())),
  id: z.exactOptional(z.string()).describe('of the row, when it has one'),
});

const plannedModel = z.object({
  model: z.string(),
  operation,
  rows: z.number(),
  estimate: microUnits,
  unpriced: z.number().describe('rows without a known price'),
});

const campaignPlan = z
  .object({
    v: z.literal(1),
    generation: z.number(),
    manifest: z.string().describe('SHA-256 of the bytes of the manifest'),
    rows: z.number().describe('of the manifest'),
    planned: z.number().describe('rows that are to be done'),
    done: z.number().describe('rows with a result that is kept'),
    left: z.number().describe('rows that a limit or a sample left for later'),
    invalid: z.number(),
    issues: z.array(manifestIssue).describe('the first ones, in order of their lines'),
    issuesFile: artifactRef.nullable(),
    changed: z.object({ rows: z.number(), keys: z.array(z.string()) }).describe('bought with another text'),
    pages: z.number(),
    index: artifactRef,
    currency,
    estimate: microUnits.describe('sum of the known prices, one attempt of each row'),
    unpriced: z.number().describe('rows without a known price'),
    started: z
      .object({ rows: z.number(), estimate: microUnits, unpriced: z.number() })
      .describe('rows whose attempt is already bought: only another attempt after a capacity failure costs'),
    booked: money.describe('what earlier attempts of the planned rows may have cost; not in `estimate`'),
    createsPerSecond: z.exactOptional(z.number()).describe('the cap of the worker that made the plan'),
    models: z.array(plannedModel),
    refused: z.exactOptional(
      z.object({
        reason: z.enum([
          'manifest_unreadable',
          'invalid_rows',
          'no_rows',
          'mixed_currencies',
          'unpriced_models',
          'budget_currency',
          'account_not_configured',
          'no_journal',
        ]),
        message: z.string(),
      }),
    ),
  })
  .describe('the plan of a manifest');

/** `data` of a dry run. */
export const campaignEstimate = z.object({
  dryRun: z.literal(true),
  plan: campaignPlan.omit({ index: true, issuesFile: true }),
  most: moneyOfCurrency
    .nullable()
    .describe('the most that it may cost with all retries, never more than the budget; null is unknown'),
  source: z
    .object({
      origin: z.enum(['environment', 'dev', 'none']),
      location: z.string().nullable(),
      fingerprint: z.string().nullable(),
      unknownModels: z.enum(['allow', 'refuse']),
    })
    .describe('the model configuration that the rows were validated by'),
});

const resultsRef = z
  .object({
    v: z.literal(1),
    generation: z.number(),
    indexes: z.array(z.string()),
    segments: z.array(z.string()),
    counts: rowCounts,
    money,
    currency,
    plans: z.exactOptional(z.array(z.object({ generation: z.number(), index: z.string() }))),
  })
  .describe('artifacts that hold the results, by SHA-256');

const activeRow = z.object({
  key: z.string(),
  phase: z.enum(['creating', 'watching', 'downloading', 'waiting', 'drawing']),
  taskId: z.string().nullable(),
  status: z.string().nullable(),
  progress: z.exactOptional(z.number()).describe('percent; only when the service sent a number'),
  since: time,
});

const budget = z
  .object({
    total: moneyOfCurrency,
    spent: z.number().describe('paid for results that are there'),
    reserved: z.number().describe('for rows under way and tasks that still run'),
    review: z.number().describe('may have been charged'),
    free: z.number(),
  })
  .nullable()
  .describe('in micro-units; the four parts add up to the total. Null without a budget');

/** Answer of the query `campaign_state`. */
export const campaignState = z.object({
  campaign: z.string(),
  phase: z.enum(['planning', 'running', 'paused', 'stopping', 'done']),
  startedAt: time,
  plan: campaignPlan.nullable().describe('null until the manifest was read'),
  counts: rowCounts,
  remaining: z.number().describe('rows without a result'),
  inFlight: z.number(),
  concurrency: z.number(),
  currency,
  money,
  budget,
  rowsPerMinute: z.number().nullable().describe('null while too few have ended'),
  etaAt: time.nullable().describe('null when it cannot be computed'),
  active: z.array(activeRow).describe('a few rows that are under way'),
  batches: z.array(
    z.object({
      batch: z.number(),
      workflowId: z.string(),
      rows: z.number(),
      ended: z.number().describe('rows that have a result'),
      inFlight: z.number(),
      lastReportAt: time.nullable(),
    }),
  ),
  results: resultsRef,
  notes: z.array(z.string()),
});

/** How a campaign ends. */
export const campaignResult = z.object({
  v: z.literal(1),
  outcome: z.enum(['completed', 'cancelled', 'refused']),
  campaign: z.string(),
  plan: campaignPlan,
  counts: rowCounts,
  currency,
  money,
  budget,
  results: resultsRef,
  startedAt: time,
  finishedAt: time,
});

/** One line of `results.jsonl` of a report. */
export const campaignRow = z.object({
  row: z.number().describe('index in the manifest, from 0'),
  line: z.number().describe('line in the manifest, from 1'),
  key: z.string().describe('its id, else made from its content'),
  content: z.string().describe('SHA-256 of what was ordered'),
  generation: z.number().describe('number of the plan that produced it'),
  operation,
  model: z.string(),
  outcome: rowOutcome,
  attempt: z.number(),
  rebought: z.exactOptional(z.literal(true)),
  taskId: z.string().nullable(),
  account: z.string().nullable(),
  requested: requestedFacts.omit({ model: true }),
  reported: z.exactOptional(reportedFacts),
  usage: z.exactOptional(json).describe("the service's own words; absent never means a cost of 0"),
  reason: z.exactOptional(z.string()).describe('why it is not completed'),
  errorKind: z.exactOptional(taskError.shape.kind),
  httpStatus: z.exactOptional(z.number()),
  warnings: z.array(z.string()),
  ledger: z.array(
    z.object({
      attempt: z.number(),
      creationKey: z.string(),
      taskId: z.string().nullable(),
      estimate: z.number().nullable().describe('integer micro-units; null is unknown, never free'),
      state: billing.shape.state,
    }),
  ),
  startedAt: time.nullable(),
  createdAt: time.nullable(),
  finishedAt: time,
  polls: z.number(),
  attempts: z.number(),
  files: z.array(
    z.object({
      path: z.string().nullable().describe('relative to the report; null when the store did not have it'),
      sha256: z.string(),
      bytes: z.number(),
      mediaType: z.string(),
    }),
  ),
  money: money.extend({ currency }),
});
