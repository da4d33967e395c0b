import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { postJson } from './raw-call';
import { aVideo, runSandbox, type RunningSandbox } from './running-sandbox';

type Line = Readonly<Record<'time' | 'task_id' | 'idempotency_key' | 'status' | 'amount', string>>;

describe('the invoice of the sandbox', () => {
  let sandbox: RunningSandbox;
  let dataDir: string;
  const start = () => runSandbox({ dataDir });

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'temporal-media-invoice-'));
    sandbox = await start();
  });
  afterEach(async () => {
    await sandbox.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const linesOf = (csv: string): Line[] => parse(csv, { columns: true });

  test('bills what was accepted by the price of its model, and survives a restart', async () => {
    const task = await sandbox.newTask({ seconds: 8 });
    await sandbox.newTask({ prompt: 'a fire [fail:moderation]' });
    expect((await sandbox.create({ ...aVideo, seconds: 3 })).status).toBe(400);
    const image = { model: 'image-2', prompt: 'a map', n: 2, size: '512x512' };
    await postJson(`${sandbox.url}/v1/images/generations`, image);
    const { csv, ...rest } = await sandbox.admin.invoice();
    expect(rest).toEqual({ lines: 2, total: 480_000, planted: [] });
    const lines = linesOf(csv);
    expect(lines).toMatchObject([
      { task_id: task, status: 'completed', amount: '0.400000' },
      { task_id: '', amount: '0.080000' },
    ]);
    await sandbox.close();
    sandbox = await start();
    expect((await sandbox.admin.invoice()).csv).toBe(csv);
  });

  test('has the errors that are asked for, each in a call of its own, and says which', async () => {
    const tasks = await Promise.all(Array.from({ length: 12 }, () => sandbox.newTask()));
    const failed = await sandbox.newTask({ prompt: 'a fire [fail:moderation]' });
    await sandbox.create({ ...aVideo, seconds: 3 });
    const errors = { missing: 1, duplicate: 2, cancelled: 1, credited: 1, amount: 1 };
    const all = { ...errors, failed: 1, refused: 1, foreign: 2 };
    const { csv, lines, total, planted } = await sandbox.admin.invoice(all);
    for (const [error, count] of Object.entries(all))
      expect(planted.filter((one) => one.error === error)).toHaveLength(count);
    expect(new Set(planted.map(({ taskId }) => taskId)).size).toBe(planted.length);
    const found = linesOf(csv);
    expect(found).toHaveLength(lines);
    expect(total).toBe(found.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 1e6), 0));
    const amounts = (error: string) =>
      planted
        .filter((one) => one.error === error)
        .map(({ taskId }) =>
          found.filter((line) => line.task_id === taskId).map(({ amount }) => Number(amount)),
        );
    expect(amounts('missing')).toEqual([[]]);
    expect(amounts('duplicate')).toEqual([
      [0.1, 0.1],
      [0.1, 0.1],
    ]);
    expect(amounts('cancelled')).toEqual([[0.1, 0.1, -0.1]]);
    expect(amounts('credited')).toEqual([[0.1, -0.1]]);
    expect(amounts('amount')).toEqual([[0.11]]);
    expect(amounts('failed')).toEqual([[0.1]]);
    expect(planted).toContainEqual({ error: 'failed', taskId: failed });
    const unknown = planted.filter(({ error }) => error === 'foreign' || error === 'refused');
    expect(unknown.filter(({ taskId }) => [...tasks, failed].includes(taskId))).toEqual([]);
  });

  test.each<[object, string]>([
    [
      { missed: 1 },
      '"missed" is not an error. Allowed: missing, duplicate, cancelled, credited, amount, failed, refused, foreign.',
    ],
    [{ missing: -1 }, 'missing must be a non-negative integer.'],
    [{ failed: 1 }, 'There are only 0 calls left for failed.'],
    [[], 'The errors must be a JSON object'],
  ])('%j is refused', async (errors, message) => {
    await expect(sandbox.admin.invoice(errors)).rejects.toThrow(message);
  });
});
