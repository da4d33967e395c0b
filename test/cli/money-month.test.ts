import { writeFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { type InvoiceErrors } from '../../packages/sandbox/src';
import { type CheckedInvoice, type FindingLine } from './money/check-bench';
import { CampaignRuns, film } from './support/campaign-runs';
import { type CliBench, openCliBench } from './support/cli-bench';
import { runJson } from './support/run-cli';

const TENANTS = ['anna', 'bert', 'carl'];
/** Rows of each tenant: 5,010 calls in all, with the foreign ones. */
const ROWS = 1_660;
const FOREIGN = 30;
/** Lines that differ from what happened. Each is planted in another call. */
const ERRORS = {
  ...{ missing: 20, duplicate: 15, cancelled: 10, credited: 12, amount: 18 },
  ...{ failed: 5, refused: 4, foreign: 6 },
} satisfies InvoiceErrors;
const MONTH_MS = 900_000;

jest.setTimeout(600_000);

/** What the sandbox knows about a call by its prompt. */
const wordsOf = (row: number): string => {
  if (row % 83 === 0) return 'a storm [lost-reply]';
  if (row % 41 === 0) return 'a fire [fail:moderation]';
  return row % 97 === 0 ? 'a riot' : 'a boat';
};

/** A month of three tenants whose replies are lost, whose videos fail, and whose key somebody else uses as well. */
describe('an invoice for a month', () => {
  let bench: CliBench;
  let file: string;
  let env: NodeJS.ProcessEnv;
  let results: string[];
  let expected: Map<string, string>;
  let lost: Set<string>;

  const check = async (...args: string[]) => {
    const run = await runJson(['money', 'check', file, '--limit', '100000', ...results, ...args], env);
    return { ...run, data: run.reply.data as unknown as CheckedInvoice };
  };
  const foreign = async (prompt: string): Promise<void> => {
    const reply = await fetch(`${bench.sandbox.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'cine-1', prompt, seconds: 2, resolution: '480p' }),
    });
    expect(reply.status).toBe(200);
  };
  const differences = ({ findings }: CheckedInvoice): FindingLine[] =>
    findings.filter(({ finding }) => finding !== 'under_review');
  /** By task, or by key for a call without one. */
  const byCall = (findings: readonly FindingLine[]): Map<string, string> =>
    new Map(findings.map(({ taskId, creationKey, finding }) => [taskId ?? creationKey ?? '', finding]));

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 0 }, videos: 'shared' });
    const policy = JSON.stringify({ idempotency: { header: 'Idempotency-Key' } });
    await bench.startWorker({ MEDIA_CREATE_POLICY: policy });
    env = { ...bench.clientEnv, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const blocked = { error: { code: 'moderation_blocked', message: 'no' } };
    await bench.sandbox.admin.addFaults([
      {
        ...{ operation: 'create', promptIncludes: 'a riot', times: 0 },
        action: { type: 'status', status: 400, body: blocked },
      },
    ]);
    const runs = new CampaignRuns(bench);
    for (let call = 0; call < FOREIGN / 2; call += 1) await foreign(`foreign ${call}`);
    const ids = TENANTS.map((tenant) => runs.id(tenant));
    await Promise.all(
      ids.map(async (id, tenant) => {
        const rows = Array.from({ length: ROWS }, (_, row) =>
          row % 100 === 7
            ? `r${row},image-2,a map ${tenant} ${row},,`
            : film(`r${row}`, `${wordsOf(row)} ${tenant} ${row}`),
        );
        const manifest = await runs.manifest(id, rows);
        const started = await runs.run('run', manifest, '--id', id, '--concurrency', '500', '--detach');
        expect(started.code).toBe(0);
        await runs.ended(id);
      }),
    );
    for (let call = FOREIGN / 2; call < FOREIGN; call += 1) await foreign(`foreign ${call}`);
    results = [];
    for (const id of ids) {
      const out = path.join(bench.dir, id);
      await runs.run('report', id, '--out', out);
      results.push('--results', path.join(out, 'results.jsonl'));
    }
    const { csv, planted } = await bench.sandbox.admin.invoice(ERRORS);
    file = path.join(bench.dir, 'invoice.csv');
    await writeFile(file, csv);
    const tasks = await bench.sandbox.admin.tasks();
    const errorOf = new Map(planted.map(({ taskId, error }) => [taskId, error]));
    lost = new Set(tasks.filter(({ prompt }) => prompt.includes('[lost-reply]')).map(({ id }) => id));
    const theirs = new Set(tasks.filter(({ prompt }) => prompt.startsWith('foreign')).map(({ id }) => id));
    const kindOf = {
      missing: 'not_billed',
      duplicate: 'duplicate',
      cancelled: '',
      credited: 'amount',
    } as const;
    const others = { amount: 'amount', failed: 'failed', refused: 'refused', foreign: 'unknown' } as const;
    expected = new Map(planted.map(({ taskId, error }) => [taskId, { ...kindOf, ...others }[error]]));
    for (const [set, kind] of [[lost, 'unconfirmed'] as const, [theirs, 'unknown'] as const])
      for (const id of set) expected.set(id, errorOf.get(id) === 'missing' ? '' : kind);
    for (const [id, kind] of expected) if (kind === '') expected.delete(id);
  }, MONTH_MS);
  afterAll(() => bench.close());

  test('5,010 calls were made, and the invoice has lines for those that were accepted', async () => {
    const { creates, images } = await bench.sandbox.admin.counters({ prompts: false });
    expect(creates.received + images.received).toBe(TENANTS.length * ROWS + FOREIGN);
    expect(lost.size).toBeGreaterThan(50);
    expect(expected.size).toBeGreaterThan(150);
  });

  test('every planted difference is found, and no other', async () => {
    const { code, data } = await check();
    expect(code).toBe(5);
    const found = differences(data);
    expect(byCall(found)).toEqual(expected);
    expect(found).toHaveLength(expected.size);
    expect(data.findings[0]?.finding).toBe('unknown');
  });

  test('without the column of keys, a lost reply is unknown, and is named beside its line', async () => {
    const csv: string[][] = parse(await readFile(file, 'utf8'));
    const bare = path.join(bench.dir, 'bare.csv');
    // Images and refused calls have no other name.
    await writeFile(bare, csv.map((cells) => cells.filter((_, at) => at !== 2).join(',')).join('\n') + '\n');
    const run = await runJson(['money', 'check', bare, '--limit', '100000', ...results], env);
    const data = run.reply.data as unknown as CheckedInvoice;
    const unkeyed = [...expected].map(([id, kind]): [string, string] => [
      id,
      kind === 'unconfirmed' || kind === 'refused' ? 'unknown' : kind,
    ]);
    const found = differences(data);
    expect(byCall(found.filter(({ finding }) => finding !== 'image'))).toEqual(new Map(unkeyed));
    expect(found.filter(({ finding }) => finding === 'image')).toHaveLength(TENANTS.length * 17);
    const named = found.filter(({ taskId, finding }) => finding === 'unknown' && lost.has(taskId ?? ''));
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ note }) => !note.startsWith('Perhaps the lost reply of '))).toEqual([]);
  });

  test('--apply twice changes nothing the second time, and each call still under review has a reason', async () => {
    const first = await check('--apply', '--reference', 'invoice 2026-11');
    expect(first.data.applied?.recorded).toBeGreaterThan(4_000);
    expect(byCall(differences(first.data))).toEqual(expected);
    const again = await check('--apply', '--reference', 'invoice 2026-11');
    expect(again.data.applied).toEqual({ recorded: 0, amount: 0 });
    expect(byCall(differences(again.data))).toEqual(expected);
    const review = await runJson(['money', 'review', '--limit', '100000'], env);
    const open = review.reply.data?.['underReview'] as {
      readonly creationKey: string;
      readonly why: string;
    }[];
    const reasons = new Map(again.data.findings.map((one) => [one.creationKey, one]));
    expect(open.length).toBeGreaterThan(50);
    for (const { creationKey } of open) {
      const { finding, note } = reasons.get(creationKey) ?? {};
      expect([finding, note]).toEqual(
        finding === 'not_billed'
          ? ['not_billed', '']
          : ['under_review', expect.stringMatching(/\w: \w.*\.$/)],
      );
    }
    const free = await check('--apply', '--reference', 'invoice 2026-11', '--missing-are-free');
    expect(free.data.applied?.recorded).toBe(open.filter(({ why }) => why !== 'unconfirmed').length);
    const left = await runJson(['money', 'review', '--limit', '100000'], env);
    const whys = (left.reply.data?.['underReview'] as { readonly why: string }[]).map(({ why }) => why);
    expect(new Set(whys)).toEqual(new Set(whys.length === 0 ? [] : ['unconfirmed']));
  });
});
