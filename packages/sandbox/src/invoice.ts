import { isJsonObject } from './json-value';
import { sandboxModels } from './models';
import { type AcceptedImages } from './options';
import { type SandboxRequest } from './request-log';
import { newTaskId, type SandboxTask, statusAt, videoSpecOf } from './tasks';

/**
 * Errors that an invoice can contain, each with the number of calls that have it. Each call has at most one:
 * - `missing`: it is not billed.
 * - `duplicate`: it is charged a second time.
 * - `cancelled`: it is charged a second time, and that charge is credited.
 * - `credited`: its charge is credited.
 * - `amount`: it costs 10 % more than its price.
 * - `failed`: it is charged, although it failed.
 * - `refused`: a create that was refused with 400 is charged, under a new task id and the create's idempotency key.
 * - `foreign`: a task that never existed is charged.
 */
export type InvoiceError = (typeof ERRORS)[number];

const ERRORS = [
  'missing',
  'duplicate',
  'cancelled',
  'credited',
  'amount',
  'failed',
  'refused',
  'foreign',
] as const;

/** How many calls have which error. @default no errors */
export type InvoiceErrors = { readonly [error in InvoiceError]?: number };

/** An invoice for everything that the sandbox has accepted. Tasks that failed are free. */
export interface SandboxInvoice {
  /** A header, and one line per charge or credit, in the order of their times. */
  readonly csv: string;
  /** Number of lines, without the header. */
  readonly lines: number;
  /** Sum of all lines, in micro-units of USD. */
  readonly total: number;
  /** The errors that the invoice contains. */
  readonly planted: readonly PlantedError[];
}

/** A call with an error on an invoice. */
export interface PlantedError {
  /** What is wrong with the call's line. */
  readonly error: InvoiceError;
  /** The task id on the invoice, or, for `missing`, the task that is not on it. */
  readonly taskId: string;
}

/** The errors cannot be planted. */
export class InvoiceErrorsError extends Error {
  override readonly name = 'InvoiceErrorsError';
}

interface Charge {
  readonly at: number;
  readonly taskId: string;
  readonly key: string;
  readonly model: string;
  readonly status: string;
  readonly microUnits: number;
}

/** What an invoice is written from. */
interface Accepted {
  readonly tasks: Iterable<SandboxTask>;
  readonly images: readonly AcceptedImages[];
  readonly requests: readonly SandboxRequest[];
}

/** Writes an invoice. @throws InvoiceErrorsError for unknown errors, or more of them than there are calls */
export function writeInvoice(
  { tasks, images, requests }: Accepted,
  wanted: unknown,
  now: number,
): SandboxInvoice {
  const counts = readErrors(wanted);
  const all = [...tasks].map((task) => chargeOf(task, now)).sort((one, other) => one.at - other.at);
  const billed = all.filter(({ status }) => status !== 'failed');
  const middle = billed[billed.length >> 1];
  const refused = requests.filter((one) => one.operation === 'create' && one.status === 400);
  const pools = {
    // From a quarter on: the first and the last line show the invoice's period.
    bought: taker(billed.slice(billed.length >> 2)),
    failed: taker(all.filter(({ status }) => status === 'failed')),
    refused: taker(refused.map((one) => refusedCharge(one))),
    foreign: taker(Array.from({ length: counts.foreign ?? 0 }, () => foreignCharge(middle?.at ?? now))),
  };
  const planted = new Map<Charge, InvoiceError>();
  for (const error of ERRORS) {
    const pool = error === 'failed' || error === 'refused' || error === 'foreign' ? error : 'bought';
    for (const charge of pools[pool](error, counts[error] ?? 0)) planted.set(charge, error);
  }
  const unlisted = [...planted.keys()].filter((charge) => !billed.includes(charge));
  const charges = [...billed, ...unlisted, ...images.map((call) => imageCharge(call))].flatMap((charge) =>
    linesOf(charge, planted.get(charge)),
  );
  charges.sort((one, other) => one.at - other.at);
  return {
    csv: [HEAD, ...charges.map(csvLine), ''].join('\n'),
    lines: charges.length,
    total: charges.reduce((sum, { microUnits }) => sum + microUnits, 0),
    planted: [...planted].map(([{ taskId }, error]) => ({ error, taskId })),
  };
}

function readErrors(wanted: unknown): InvoiceErrors {
  if (!isJsonObject(wanted))
    throw new InvoiceErrorsError('The errors must be a JSON object, such as {"missing": 2}.');
  for (const [name, count] of Object.entries(wanted)) {
    if (!ERRORS.some((error) => error === name))
      throw new InvoiceErrorsError(`${JSON.stringify(name)} is not an error. Allowed: ${ERRORS.join(', ')}.`);
    if (!Number.isInteger(count) || (count as number) < 0)
      throw new InvoiceErrorsError(`${name} must be a non-negative integer.`);
  }
  return wanted;
}

/** Returns a function that takes the next charges, each only once. */
function taker(charges: readonly Charge[]): (error: InvoiceError, count: number) => readonly Charge[] {
  let taken = 0;
  return (error, count) => {
    if (taken + count > charges.length)
      throw new InvoiceErrorsError(`There are only ${charges.length - taken} calls left for ${error}.`);
    taken += count;
    return charges.slice(taken - count, taken);
  };
}

function linesOf(charge: Charge, error: InvoiceError | undefined): readonly Charge[] {
  const { microUnits } = charge;
  const credit = { ...charge, microUnits: -microUnits };
  switch (error) {
    case 'missing':
      return [];
    case 'duplicate':
      return [charge, charge];
    case 'cancelled':
      return [charge, charge, credit];
    case 'credited':
      return [charge, credit];
    case 'amount':
      return [{ ...charge, microUnits: Math.round(microUnits * 1.1) }];
    case 'failed':
    case 'refused':
    case 'foreign':
    case undefined:
      return [charge];
  }
}

/** Price of models whose configuration has none. The client cannot know it. */
const UNLISTED_PRICE = 250_000;

interface Priced {
  readonly resolution?: string;
  readonly seconds?: number;
  readonly size?: string;
  readonly quality?: string;
}

function priceOf(model: string, { resolution, seconds = 1, size, quality }: Priced): number {
  const price = sandboxModels.models.find(({ id }) => id === model)?.price;
  if (price === undefined) return UNLISTED_PRICE;
  if (price.per !== 'specification')
    return price.per === 'second' ? price.microUnits * seconds : price.microUnits;
  const fits = <T>(listed: T | undefined, value: T | undefined): boolean =>
    listed === undefined || listed === value;
  const line = price.specifications.find(
    (one) =>
      fits(one.resolution, resolution) &&
      fits(one.durationSeconds, seconds) &&
      fits(one.size, size) &&
      fits(one.quality, quality),
  );
  return line?.microUnits ?? UNLISTED_PRICE;
}

function chargeOf(task: SandboxTask, now: number): Charge {
  const { id: taskId, model, createdAt: at, idempotencyKey: key = '' } = task;
  const { seconds } = videoSpecOf(task, true);
  const { resolution } = task.request;
  const asked = { seconds, ...(typeof resolution === 'string' && { resolution }) };
  return { at, taskId, key, model, status: statusAt(task, now), microUnits: priceOf(model, asked) };
}

function imageCharge({
  createdAt: at,
  idempotencyKey: key = '',
  model,
  results,
  ...asked
}: AcceptedImages): Charge {
  return { at, taskId: '', key, model, status: 'completed', microUnits: priceOf(model, asked) * results };
}

function refusedCharge({ at, headers, json }: SandboxRequest): Charge {
  const model = isJsonObject(json) && typeof json.model === 'string' ? json.model : 'cine-1';
  const key = headers['idempotency-key'] ?? '';
  return { at, taskId: newTaskId(model), key, model, status: 'failed', microUnits: priceOf(model, {}) };
}

function foreignCharge(at: number): Charge {
  const model = 'cine-1';
  return {
    at,
    taskId: newTaskId(model),
    key: '',
    model,
    status: 'completed',
    microUnits: priceOf(model, {}),
  };
}

const HEAD = 'time,task_id,idempotency_key,model,status,amount,currency';

function csvLine({ at, taskId, key, model, status, microUnits }: Charge): string {
  const cells = [
    new Date(at).toISOString(),
    taskId,
    key,
    model,
    status,
    (microUnits / 1_000_000).toFixed(6),
    'USD',
  ];
  return cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',');
}
