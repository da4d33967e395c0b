import { type SandboxRequest } from '../../../packages/sandbox/src';
import { addMoney, type MoneyTotals, NO_MONEY, type ResultsRef } from '../../../src/domain/campaign/results';
import { type CampaignRowResult, type LedgerLine } from '../../../src/domain/campaign/row';
import { moneyOfAttempts } from '../../../src/domain/campaign/row-result';
import { readResults } from '../../../src/manifest/result-lines';
import { openArtifactStore } from '../../../src/stores';
import { resultsOf, type Row } from '../../support/campaign';
import { type MediaStack } from '../../support/media-stack';
import { promptOf } from '../temporal-faults/cell';

/** What the service itself has of one row: its paid calls, and what it accepted of them. */
export interface ServiceRow {
  readonly calls: readonly SandboxRequest[];
  readonly accepted: number;
  readonly taskIds: readonly string[];
}

/** Reads the service's log once. */
export async function serviceRows(
  stack: MediaStack,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, ServiceRow>> {
  const { admin } = stack.sandbox;
  const calls = new Map<unknown, SandboxRequest[]>();
  for (const request of await admin.requests()) {
    if (!['create', 'generate', 'edit'].includes(request.operation)) continue;
    const prompt = promptOf(request);
    calls.set(prompt, [...(calls.get(prompt) ?? []), request]);
  }
  const tasks = new Map<string, string[]>();
  for (const { prompt, id } of await admin.tasks()) tasks.set(prompt, [...(tasks.get(prompt) ?? []), id]);
  return new Map(
    rows.map(({ id, prompt }) => {
      const own = calls.get(prompt) ?? [];
      const accepted = own.filter((call) => call.accepted).length;
      return [id as string, { calls: own, accepted, taskIds: tasks.get(prompt as string) ?? [] }];
    }),
  );
}

/** Attempts of a row that may have cost something. */
export const paidLines = ({ ledger }: Pick<CampaignRowResult, 'ledger'>): readonly LedgerLine[] =>
  ledger.filter(({ state }) => state !== 'none');

/** What the books of all rows come to. */
export function booksOf(lines: Iterable<CampaignRowResult>): MoneyTotals {
  let money = NO_MONEY;
  for (const { ledger } of lines) money = addMoney(money, moneyOfAttempts(ledger));
  return money;
}

/** What must hold of the results however a campaign was disturbed, before anybody decided about anything. */
export async function judgeRows(
  stack: MediaStack,
  rows: readonly Row[],
  results: ResultsRef,
): Promise<{
  readonly problems: readonly string[];
  readonly lines: ReadonlyMap<string, CampaignRowResult>;
  readonly service: ReadonlyMap<string, ServiceRow>;
}> {
  const lines = await resultsOf(stack, results);
  const service = await serviceRows(stack, rows);
  const problems: string[] = [];
  const owner = new Map<string, string>();
  for (const { id } of rows as readonly { readonly id: string }[]) {
    const line = lines.get(id);
    const seen = service.get(id);
    if (line === undefined) problems.push(`${id}: no result`);
    if (line === undefined || seen === undefined) continue;
    const keys = line.ledger.map(({ creationKey }) => creationKey);
    if (new Set(keys).size !== keys.length) problems.push(`${id}: an attempt stands twice in its ledger`);
    for (const { taskId, creationKey, state } of line.ledger) {
      if (taskId === null) continue;
      if (owner.has(taskId)) problems.push(`${creationKey}: the task of ${owner.get(taskId)}`);
      owner.set(taskId, creationKey);
      if (!seen.taskIds.includes(taskId)) problems.push(`${creationKey}: a task that is not its own`);
      if (state === 'none') problems.push(`${creationKey}: a task that costs nothing`);
    }
    const paid = paidLines(line).length;
    if (seen.accepted > paid)
      problems.push(`${id} (${line.outcome}): ${seen.accepted} accepted, ${paid} booked`);
  }
  problems.push(...(await toldTwice(stack, results)));
  for (const id of lines.keys()) if (!service.has(id)) problems.push(`${id}: no such row`);
  const counted = Object.values(results.counts).reduce((sum, count) => sum + count, 0);
  if (counted !== rows.length) problems.push(`${counted} rows counted, not ${rows.length}`);
  const counts: Record<string, number> = {};
  for (const { outcome } of lines.values()) counts[outcome] = (counts[outcome] ?? 0) + 1;
  problems.push(...differences('counts', counts, { ...results.counts }));
  problems.push(...differences('money', { ...booksOf(lines.values()) }, { ...results.money }));
  return { problems, lines, service };
}

/** Rows of which two lines of one plan were counted. */
async function toldTwice(stack: MediaStack, results: ResultsRef): Promise<string[]> {
  const told = new Map<string, string>();
  const twice: string[] = [];
  for await (const row of readResults(await openArtifactStore(stack.config), results)) {
    const { key, generation, outcome, reason = '', attempt } = row;
    const text = `${outcome} ${reason} of attempt ${attempt}`;
    const before = told.get(`${generation}/${key}`);
    if (before !== undefined)
      twice.push(`${key}: told twice in plan ${generation}, as ${before} and ${text}`);
    told.set(`${generation}/${key}`, text);
  }
  return twice;
}

/** Paid calls that the service accepted after the budget was spent, whatever the books say. */
export function boughtAbove(
  budget: number,
  { lines, service }: Pick<Awaited<ReturnType<typeof judgeRows>>, 'lines' | 'service'>,
): number {
  let spent = 0;
  let above = 0;
  for (const [key, { ledger }] of lines)
    for (let call = 0; call < (service.get(key)?.accepted ?? 0); call++) {
      spent += ledger[0]?.estimate ?? 0;
      if (spent > budget) above += 1;
    }
  return above;
}

export function differences(
  what: string,
  found: Record<string, number>,
  told: Record<string, number | undefined>,
): string[] {
  return [...new Set([...Object.keys(found), ...Object.keys(told)])].flatMap((name) =>
    (found[name] ?? 0) === (told[name] ?? 0)
      ? []
      : [`${what}: ${told[name] ?? 0} ${name} told, ${found[name] ?? 0} in the lines`],
  );
}
